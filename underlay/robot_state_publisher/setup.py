from setuptools import setup

package_name = "robot_state_publisher"

setup(
    name=package_name,
    version="0.1.0",
    packages=[package_name],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="basis_ik maintainers",
    maintainer_email="maintainers@example.com",
    description="Publishes the frames of a robot from its URDF and its joint states",
    license="Apache-2.0",
    entry_points={
        "console_scripts": ["robot_state_publisher = robot_state_publisher.node:main"],
    },
)
