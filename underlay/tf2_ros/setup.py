from setuptools import find_packages, setup

package_name = "tf2_ros"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="basis_ik maintainers",
    maintainer_email="maintainers@example.com",
    description="The programs static_transform_publisher and tf2_echo.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            "static_transform_publisher = tf2_ros_programs.run:static_transform_publisher",
            "tf2_echo = tf2_ros_programs.run:tf2_echo",
        ],
    },
)
