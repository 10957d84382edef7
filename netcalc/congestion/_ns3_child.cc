// One simulation of ns-3, called once for a scenario: see _ns3_child.py.
#include <algorithm>
#include <set>
#include <string>
#include <vector>
using namespace ns3;

struct NetcalcFlow {
  Ptr<BulkSendApplication> source;
  Ptr<PacketSink> sink;
  double start = 0, stop = 0, size = 0, finish = -1, counted_from = 0;
  uint64_t counted = 0, received = 0, sent = 0, resent = 0;
  double window = 0;
};
struct NetcalcLoop {
  Ptr<Socket> client, listener;
  double stop = 0, counted_from = 0, sent = 0;
  uint32_t size = 0, reply = 0, left = 0, asked = 0, replied = 0;
  std::vector<double> latencies;
};
struct NetcalcRun {
  std::vector<NetcalcFlow> flows;
  std::vector<NetcalcLoop> loops;
  std::vector<double> samples;
  Ptr<Queue<Packet>> queue;
  Ptr<QueueDisc> disc;
  double drops = 0, step = 0, warm = 0, payload = 0;
};
static NetcalcRun* netcalc_run = nullptr;

static void NetcalcReceived(int number, Ptr<const Packet> packet, const Address&) {
  NetcalcFlow& flow = netcalc_run->flows[number];
  double now = Simulator::Now().GetSeconds();
  flow.received += packet->GetSize();
  if (now >= netcalc_run->warm) netcalc_run->payload += packet->GetSize();
  if (now >= flow.counted_from && now <= flow.stop) flow.counted += packet->GetSize();
  if (flow.size > 0 && flow.finish < 0 && flow.received >= flow.size) flow.finish = now;
}
static void NetcalcWindow(int number, uint32_t, uint32_t window) {
  netcalc_run->flows[number].window = window;
}
static void NetcalcSent(int number, Ptr<const Packet> packet, const TcpHeader&,
                        Ptr<const TcpSocketBase>) {
  netcalc_run->flows[number].sent += packet->GetSize();
}
static void NetcalcResent(int number, Ptr<const Packet> packet, const TcpHeader&, const Address&,
                          const Address&, Ptr<const TcpSocketBase>) {
  netcalc_run->flows[number].resent += packet->GetSize();
}
static void NetcalcDrop(Ptr<const Packet>) { netcalc_run->drops += 1; }
static void NetcalcDiscDrop(Ptr<const QueueDiscItem>) { netcalc_run->drops += 1; }
static void NetcalcWatch(int number) {
  Ptr<Socket> socket = netcalc_run->flows[number].source->GetSocket();
  if (!socket) return;
  socket->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&NetcalcWindow, number));
  socket->TraceConnectWithoutContext("Tx", MakeBoundCallback(&NetcalcSent, number));
  socket->TraceConnectWithoutContext("Retransmission", MakeBoundCallback(&NetcalcResent, number));
}
static void NetcalcUse(Ptr<Node> node, std::string algorithm) {
  node->GetObject<TcpL4Protocol>()->SetAttribute(
      "SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + algorithm)));
}
static void NetcalcPush(int number) {
  NetcalcLoop& loop = netcalc_run->loops[number];
  while (loop.left > 0) {
    int sent = loop.client->Send(Create<Packet>(std::min<uint32_t>(loop.left, 50000)));
    if (sent <= 0) break;  // the buffer is full: the callback goes on
    loop.left -= sent;
  }
}
static void NetcalcAsk(int number) {
  NetcalcLoop& loop = netcalc_run->loops[number];
  loop.sent = Simulator::Now().GetSeconds();
  if (loop.sent >= loop.stop) return;
  loop.left = loop.size;
  NetcalcPush(number);
}
static void NetcalcRoom(int number, Ptr<Socket>, uint32_t) { NetcalcPush(number); }
static void NetcalcConnected(int number, Ptr<Socket>) { NetcalcAsk(number); }
static void NetcalcConnect(int number, Address server) {
  netcalc_run->loops[number].client->Connect(server);
}
static void NetcalcReplied(int number, Ptr<Socket> socket) {
  NetcalcLoop& loop = netcalc_run->loops[number];
  while (Ptr<Packet> packet = socket->Recv()) loop.replied += packet->GetSize();
  if (loop.replied < loop.reply) return;
  loop.replied = 0;
  if (loop.sent >= loop.counted_from)
    loop.latencies.push_back(Simulator::Now().GetSeconds() - loop.sent);
  NetcalcAsk(number);
}
static void NetcalcAsked(int number, Ptr<Socket> socket) {
  NetcalcLoop& loop = netcalc_run->loops[number];
  while (Ptr<Packet> packet = socket->Recv()) {
    loop.asked += packet->GetSize();
    if (Simulator::Now().GetSeconds() >= netcalc_run->warm)
      netcalc_run->payload += packet->GetSize();
  }
  if (loop.asked < loop.size) return;
  loop.asked = 0;
  socket->Send(Create<Packet>(loop.reply));
}
static void NetcalcAccepted(int number, Ptr<Socket> socket, const Address&) {
  socket->SetRecvCallback(MakeBoundCallback(&NetcalcAsked, number));
}
static void NetcalcSample() {
  NetcalcRun& run = *netcalc_run;
  double queued = run.queue->GetNBytes();
  if (run.disc) queued += run.disc->GetNBytes();
  run.samples.push_back(Simulator::Now().GetSeconds());
  run.samples.push_back(queued);
  run.samples.push_back(run.drops);
  for (auto& flow : run.flows) {
    run.samples.push_back(flow.received);
    run.samples.push_back(flow.window);
  }
  Simulator::Schedule(Seconds(run.step), &NetcalcSample);
}

// A line whose delay is that of its channel one way, and another one the other way.
class NetcalcLine : public PointToPointChannel {
 public:
  Time there, back;
  bool TransmitStart(Ptr<const Packet> packet, Ptr<PointToPointNetDevice> from,
                     Time duration) override {
    bool is_there = from == GetSource(0);
    Ptr<PointToPointNetDevice> to = GetDestination(is_there ? 0 : 1);
    Simulator::ScheduleWithContext(to->GetNode()->GetId(), duration + (is_there ? there : back),
                                   &PointToPointNetDevice::Receive, to, packet->Copy());
    return true;
  }
};

std::vector<std::vector<double>> NetcalcSimulate(
    double rate_bps, double rtt_s, int buffer_packets, int marking_packets, int mtu_bytes,
    double loss_ratio, double end_s, double warm_s, int seed, double step_s,
    bool delay_on_acks, std::vector<double> host_of, std::vector<double> host_rtts,
    std::vector<std::string> algorithms, std::vector<double> starts, std::vector<double> stops,
    std::vector<double> sizes, std::vector<std::string> loop_algorithms,
    std::vector<double> loop_starts, std::vector<double> loop_stops,
    std::vector<double> loop_sizes, std::vector<double> loop_replies) {
  NetcalcRun run;
  netcalc_run = &run;
  run.step = step_s;
  run.warm = warm_s;
  int count = algorithms.size();
  int segment = mtu_bytes - 52;
  // The line has the shortest round trip, and each access line what its host has more.
  double longest_s = rtt_s + *std::max_element(host_rtts.begin(), host_rtts.end());
  double held = rate_bps * longest_s / 8 + 1.0 * buffer_packets * mtu_bytes;
  RngSeedManager::SetSeed(seed % 4294944442u + 1);
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(uint32_t(3 * held + 2e5)));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(uint32_t(6 * held + 4e6)));
  // The timers of Linux: with ns-3's 200 ms an ACK is later than a retransmission.
  Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
  Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));

  NodeContainer senders, ends;
  int loops = loop_algorithms.size();
  int hosts = 1 + int(*std::max_element(host_of.begin(), host_of.end()));
  senders.Create(hosts);
  ends.Create(2);
  InternetStackHelper stack;
  stack.Install(senders);
  stack.Install(ends);
  bool marks = std::find(algorithms.begin(), algorithms.end(), "TcpDctcp") != algorithms.end();

  PointToPointHelper line;
  line.DisableFlowControl();  // otherwise packets are dropped, uncounted, in front of the queue
  // A point-to-point frame has 2 bytes more than its packet: the line is as fast for packets.
  double line_bps = rate_bps * (mtu_bytes + 2) / mtu_bytes;
  line.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(line_bps))));
  line.SetDeviceAttribute("Mtu", UintegerValue(mtu_bytes));
  line.SetChannelAttribute("Delay", TimeValue(Seconds(rtt_s / 2)));
  int at_device = marks ? 1 : buffer_packets;
  line.SetQueue("ns3::DropTailQueue",
                "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, at_device)));
  NetDeviceContainer bottleneck = line.Install(ends.Get(0), ends.Get(1));
  if (delay_on_acks) {
    Ptr<NetcalcLine> channel = CreateObject<NetcalcLine>();
    channel->back = Seconds(rtt_s);
    for (int i = 0; i < 2; i++)
      DynamicCast<PointToPointNetDevice>(bottleneck.Get(i))->Attach(channel);
  }
  Ipv4AddressHelper addresses;
  addresses.SetBase("10.200.0.0", "255.255.255.0");
  if (marks) {
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::RedQueueDisc",
        "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, buffer_packets)),
        "MinTh", DoubleValue(marking_packets), "MaxTh", DoubleValue(marking_packets),
        "QW", DoubleValue(1), "UseEcn", BooleanValue(true), "UseHardDrop", BooleanValue(false),
        "LInterm", DoubleValue(1), "Gentle", BooleanValue(false),
        "MeanPktSize", UintegerValue(mtu_bytes),
        "LinkBandwidth", DataRateValue(DataRate(uint64_t(line_bps))),
        "LinkDelay", TimeValue(Seconds(rtt_s / 2)));
    QueueDiscContainer discs = control.Install(bottleneck.Get(0));
    run.disc = discs.Get(0);
    run.disc->TraceConnectWithoutContext("Drop", MakeCallback(&NetcalcDiscDrop));
  }
  Ipv4InterfaceContainer line_addresses = addresses.Assign(bottleneck);
  TrafficControlHelper none;
  Ptr<PointToPointNetDevice> out = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0));
  run.queue = out->GetQueue();
  if (!marks) run.queue->TraceConnectWithoutContext("Drop", MakeCallback(&NetcalcDrop));
  if (loss_ratio > 0) {
    Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
    errors->SetAttribute("ErrorRate", DoubleValue(loss_ratio));
    errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    bottleneck.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
  }

  PointToPointHelper access;
  double access_bps = std::max(1e9, 20 * rate_bps);
  access.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(access_bps))));
  access.SetQueue("ns3::DropTailQueue",
                  "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, 1000000)));
  for (int i = 0; i < hosts; i++) {
    access.SetChannelAttribute("Delay", TimeValue(Seconds(host_rtts[i] / 2)));
    NetDeviceContainer pair = access.Install(senders.Get(i), ends.Get(0));
    if (delay_on_acks) {
      Ptr<NetcalcLine> channel = CreateObject<NetcalcLine>();
      channel->back = Seconds(host_rtts[i]);
      for (int j = 0; j < 2; j++)
        DynamicCast<PointToPointNetDevice>(pair.Get(j))->Attach(channel);
    }
    std::string base = "10." + std::to_string(i / 200 + 1) + "." + std::to_string(i % 200) + ".0";
    addresses.SetBase(base.c_str(), "255.255.255.0");
    addresses.Assign(pair);
    none.Uninstall(pair);
  }
  std::vector<std::set<std::string>> used(hosts);  // algorithms of each host's flows
  for (int i = 0; i < count; i++) used[host_of[i]].insert(algorithms[i]);
  run.flows.resize(count);
  run.loops.resize(loops);
  for (int i = 0; i < count + loops; i++) {
    std::string algorithm = i < count ? algorithms[i] : loop_algorithms[i - count];
    Ptr<Node> host = senders.Get(host_of[i]);
    if (algorithm == "TcpDctcp") NetcalcUse(ends.Get(1), algorithm);
    if (i >= count) {
      int number = i - count;
      NetcalcLoop& loop = run.loops[number];
      loop.stop = std::min(loop_stops[number], end_s);
      loop.counted_from = warm_s;
      loop.size = loop_sizes[number];
      loop.reply = loop_replies[number];
      uint16_t port = 5000 + i;
      TypeId factory = TcpSocketFactory::GetTypeId();
      loop.listener = Socket::CreateSocket(ends.Get(1), factory);
      loop.listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
      loop.listener->Listen();
      loop.listener->SetAcceptCallback(
          MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
          MakeBoundCallback(&NetcalcAccepted, number));
      NetcalcUse(host, algorithm);
      loop.client = Socket::CreateSocket(host, factory);
      loop.client->Bind();
      loop.client->SetConnectCallback(MakeBoundCallback(&NetcalcConnected, number),
                                      MakeNullCallback<void, Ptr<Socket>>());
      loop.client->SetSendCallback(MakeBoundCallback(&NetcalcRoom, number));
      loop.client->SetRecvCallback(MakeBoundCallback(&NetcalcReplied, number));
      Simulator::Schedule(Seconds(loop_starts[number]), &NetcalcConnect, number,
                          Address(InetSocketAddress(line_addresses.GetAddress(1), port)));
      continue;
    }
    NetcalcFlow& flow = run.flows[i];
    flow.start = starts[i];
    flow.stop = stops[i] > 0 ? std::min(stops[i], end_s) : end_s;
    flow.size = sizes[i];
    flow.counted_from = std::max(flow.start, warm_s);
    uint16_t port = 5000 + i;
    PacketSinkHelper sinks("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    ApplicationContainer sink = sinks.Install(ends.Get(1));
    flow.sink = DynamicCast<PacketSink>(sink.Get(0));
    flow.sink->TraceConnectWithoutContext("Rx", MakeBoundCallback(&NetcalcReceived, i));
    BulkSendHelper sources("ns3::TcpSocketFactory",
                           InetSocketAddress(line_addresses.GetAddress(1), port));
    sources.SetAttribute("MaxBytes", UintegerValue(uint64_t(flow.size)));
    sources.SetAttribute("SendSize", UintegerValue(segment));
    ApplicationContainer source = sources.Install(host);
    // A flow takes its host's algorithm when it starts: two that differ start a nanosecond apart.
    Time start = Seconds(flow.start) + NanoSeconds(used[host_of[i]].size() > 1 ? i : 0);
    Simulator::Schedule(start, &NetcalcUse, host, algorithm);
    source.Start(start);
    source.Stop(Seconds(flow.stop));
    flow.source = DynamicCast<BulkSendApplication>(source.Get(0));
    Simulator::Schedule(Seconds(flow.start + 1e-6), &NetcalcWatch, i);
  }
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  Simulator::Schedule(Seconds(step_s), &NetcalcSample);
  Simulator::Stop(Seconds(end_s));
  Simulator::Run();
  std::vector<std::vector<double>> result = {{run.drops, run.payload}, run.samples};
  for (auto& flow : run.flows)
    result.push_back({double(flow.counted), flow.finish, double(flow.sent), double(flow.resent)});
  for (auto& loop : run.loops) result.push_back(loop.latencies);
  Simulator::Destroy();
  netcalc_run = nullptr;
  return result;
}
