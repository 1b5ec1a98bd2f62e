#include <iostream>

#include "gui/app.hpp"

int main(int argc, char** argv) { return kvplan::gui::run(argc, argv, std::cout, std::cerr); }
