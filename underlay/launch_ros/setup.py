from setuptools import find_packages, setup

setup(
    name="launch_ros",
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/launch_ros"]),
        ("share/launch_ros", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="basis_ik maintainers",
    maintainer_email="maintainers@example.com",
    description="Launch for ROS nodes.",
    license="Apache-2.0",
)
