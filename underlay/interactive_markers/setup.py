from setuptools import find_packages, setup

package_name = "interactive_markers"

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
    description="Interactive markers: a server of 3D handles that RViz shows, with menus.",
    license="Apache-2.0",
)
