# A package of interfaces: all that are in its folder, built on the packages that package.xml names.
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
ament_package_xml()
set(packages ${${PROJECT_NAME}_BUILD_DEPENDS})
foreach(package ${packages})
  find_package(${package} REQUIRED)
endforeach()
file(GLOB interfaces RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS
  action/*.action msg/*.msg srv/*.srv)
rosidl_generate_interfaces(${PROJECT_NAME} ${interfaces} DEPENDENCIES ${packages})
ament_export_dependencies(rosidl_default_runtime)
ament_package()
