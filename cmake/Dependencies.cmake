# Debian 12's packages are found first and need no network. Elsewhere point CMAKE_PREFIX_PATH at an installation.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_path(KVPLAN_RAPIDJSON_INCLUDE_DIR rapidjson/reader.h REQUIRED)

# Launch commands are also read from Compose and Kubernetes manifests.
find_package(yaml-cpp 0.7 REQUIRED)
if(TARGET yaml-cpp::yaml-cpp)
  set(KVPLAN_PLANNER_LIBRARIES yaml-cpp::yaml-cpp)
else()
  set(KVPLAN_PLANNER_LIBRARIES yaml-cpp)
endif()
