// Streams and graphs of the stand-in CUDA libraries, shared between the driver and the runtime.
//
// A stream executes what it is given at once, in the calling thread: an ordered queue whose work is always done. While
// it captures, work is kept in a graph instead, and runs at each launch.
#pragma once

#include <functional>
#include <vector>

struct CUgraph_st {
  std::vector<std::function<void()>> nodes;
};

struct CUgraphExec_st {
  std::vector<std::function<void()>> nodes;
};

struct CUstream_st {
  CUgraph_st* capturing = nullptr;  // the graph that is being made
  bool invalidated = false;         // the capture was broken by a call that is illegal in it
  bool global_mode = false;         // every thread must keep to the rules of the capture
};
