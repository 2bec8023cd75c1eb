// What a process's devices did: a track for each stream, in as many lanes as overlap.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "reader/export/perfetto_process.hpp"
#include "reader/names.hpp"

namespace plumbline::reader {
namespace {

struct Work {
  std::string name;
  std::string_view kind;
  std::int64_t bytes = 0;
  std::int64_t parent = 0;
};

}  // namespace

void PerfettoProcess::write_device_works() {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Slice>> by_stream;
  std::vector<Work> works;
  Query query;
  query.kinds = kDeviceWorks;
  trace_.read(query, [&](const FrameView& frame) {
    for (const DeviceWorkBatch& batch : frame.device_works) {
      for (std::size_t row = 0; row < batch.count; ++row) {
        Slice slice;
        const std::uint64_t begin = batch.time_ns[row];
        if (!place(begin, begin + std::max<std::uint64_t>(1, batch.duration_ns[row]), slice)) continue;
        slice.payload = works.size();
        works.push_back({std::string(trace_.text(batch.name[row])), name_of(device_work_of(batch.tag[row])),
                         static_cast<std::int64_t>(batch.bytes[row]), static_cast<std::int64_t>(batch.parent[row])});
        by_stream[{device_of_work(batch.tag[row]), batch.stream[row]}].push_back(slice);
      }
    }
    return true;
  });
  for (auto& [stream, slices] : by_stream) {
    sort_for_nesting(slices);
    const std::vector<std::size_t> lanes = lanes_of(slices);
    std::map<std::size_t, PerfettoWriter::Track> tracks;
    for (std::size_t at = 0; at < slices.size(); ++at) {
      auto [lane, fresh] = tracks.try_emplace(lanes[at], 0);
      if (fresh) {
        lane->second = writer_.track(
            process_, "device " + std::to_string(stream.first) + ", stream " + std::to_string(stream.second));
      }
      const Work& work = works[slices[at].payload];
      const std::array<Annotation, 2> annotations = {{{"bytes", work.bytes}, {"launched_by", work.parent}}};
      writer_.begin(lane->second, slices[at].begin_ns, work.name, work.kind, annotations);
      writer_.end(lane->second, slices[at].end_ns);
    }
  }
}

}  // namespace plumbline::reader
