// A shared library that has nothing to do with operators.
extern "C" int SomethingElse() { return 0; }
