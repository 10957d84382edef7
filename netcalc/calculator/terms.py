"""Words of practitioners that no formula has: what each is, and the formulas that answer for it.

A term of :data:`TERMS` leads to formulas. For a topic of :data:`ELSEWHERE` netcalc has no formula;
the formulas beside it are the nearest ones, which are shown as such.
"""

from __future__ import annotations

TERMS = {
    "tcp_rmem; net ipv4 tcp_rmem": (
        "bdp throughput",
        "least, first and largest receive buffer of a TCP socket in Linux; the window is at "
        "most the largest less the share that the kernel keeps (tcp_adv_win_scale); netcalc plan "
        "host computes the line for a path"),
    "tcp_wmem; net ipv4 tcp_wmem": (
        "bdp throughput",
        "least, first and largest send buffer of a TCP socket in Linux; it holds what is sent "
        "and not acknowledged; netcalc plan host computes the line for a path"),
    "rmem_max; net core rmem_max; rmem_default": (
        "bdp throughput",
        "largest receive buffer that a program of Linux may ask for with SO_RCVBUF; tcp_rmem is "
        "for sockets that do not ask"),
    "wmem_max; net core wmem_max; wmem_default": (
        "bdp throughput",
        "largest send buffer that a program of Linux may ask for with SO_SNDBUF; tcp_wmem is "
        "for sockets that do not ask"),
    "so_rcvbuf; so_sndbuf; sysctl; recvspace; sendspace; maxsockbuf": (
        "bdp throughput",
        "buffer of a socket; it bounds the window of a TCP connection; netcalc plan host computes "
        "it for a path"),
    "rwin; receive window auto tuning; autotuning": (
        "throughput bdp max-window",
        "the receiver's window; a connection carries at most one window in a round trip"),
    "tcp_mem": (
        "bdp",
        "memory of all TCP sockets of a Linux host together, in pages"),
    "txqueuelen; tx queue length; pfifo_fast; qdisc": (
        "drain buffer-rule",
        "packets that an interface of Linux queues before it drops; a full queue adds its bytes "
        "divided by the rate of the line"),
    "byte queue limit; bql; ring buffer; rx ring; tx ring": (
        "drain fluid-fill",
        "bytes or descriptors that wait in the network card; they add delay, and absorb a burst "
        "while the processor is away"),
    "netdev_max_backlog": (
        "fluid-fill core-rate",
        "packets that wait for a processor core of a Linux host after they were received"),
    "gro; generic receive offload; lro": (
        "core-rate cycle-budget core-count",
        "Linux joins received segments before its stack, so that the cost per packet is paid "
        "once for up to 64 KB"),
    "gso; tso; segmentation offload; large send offload; lso": (
        "core-rate cycle-budget core-count",
        "the stack hands over up to 64 KB at once, and the card or driver cuts it into segments"),
    "rss; receive side scaling; rps; receive packet steering": (
        "core-count core-rate fullest-link-flows",
        "flows are spread over processor cores by a hash, so that one flow has one core"),
    "rpm; round trips per minute; networkquality; responsiveness": (
        "drain buffer-delay-factor",
        "round trips per minute of a loaded line (networkQuality): 60 s divided by the round "
        "trip while the line is full"),
    "roce; rocev2; rdma; iwarp; ibverbs; infiniband": (
        "loggp-message bdp pcie-write-throughput",
        "reads and writes of another host's memory, with RoCE over Ethernet; a message takes a "
        "latency and its bytes at the rate of the line"),
    "all reduce; allreduce; gradient exchange": (
        "ring-allreduce double-tree-allreduce least-collective",
        "a collective after which every rank has the sum of the vectors of all ranks; "
        "data-parallel training adds its gradients so"),
    "pmtud; path mtu discovery; plpmtud; mss black hole; pmtu": (
        "tunnel-mtu tcp-payload",
        "path MTU discovery finds the largest packet that passes; the MTU of a known path can "
        "be computed"),
    "adjust mss; mss clamp": (
        "tunnel-tcp-payload tcp-payload",
        "a router lowers the MSS in SYNs to what its narrower link carries"),
    "evpn": (
        "tunnel-mtu tunnel-overhead",
        "routes for Ethernet over VXLAN or MPLS tunnels"),
    "sack; rack; tail loss probe": (
        "pftk-throughput congestion-limit rto",
        "how a sender of TCP finds out what was lost, without waiting for a timeout"),
    "keep alive; tcp_retries2; tcp_syn_retries; tcp_user_timeout": (
        "give-up last-retransmission rto",
        "settings that end a silent connection; repeats double their timeout"),
    "tcp_slow_start_after_idle; slow start after idle": (
        "window-growth slow-start rounds",
        "Linux starts an idle connection again with its initial window"),
    "pacing; fair queueing scheduler; sch_fq": (
        "absorbed-burst fair-share",
        "the sender spreads packets over the round trip instead of sending bursts"),
    "kernel bypass; xdp; ebpf; af_xdp; vpp; vhost; virtio": (
        "core-rate cycle-budget core-count",
        "packets go past the kernel or through few layers of it, at fewer cycles each"),
    "interrupt moderation; interrupt coalescing; napi": (
        "tick-timer-wait core-rate",
        "the card waits for further packets before it interrupts; a packet waits up to that "
        "time"),
    "nvme over tcp; iscsi; nfs; smb; cifs": (
        "throughput transfer-time little-number",
        "blocks or files over one connection; it carries at most its outstanding bytes in a "
        "round trip"),
    "rsync; scp; sftp; robocopy; rclone; globus; gridftp": (
        "transfer-time throughput connection-count",
        "copies files over TCP; loss and window bound one connection"),
    "buffer credit; bb credit; buffer to buffer; fibre channel; fiber channel": (
        "bdp-packets bdp",
        "frames that Fibre Channel may have under way before an answer; the distance needs as "
        "many as fit into its round trip"),
    "outstanding io; outstanding request": (
        "little-number throughput",
        "requests under way at once; their number is rate times latency"),
}  # fmt: skip
"""Spellings of a term -> the formulas that answer for it, and what it is."""

ELSEWHERE = {
    "all to all; alltoall; expert parallel": (
        "ring-allgather bus-bandwidth",
        "a collective in which each rank sends another part to every rank"),
    "vegas; westwood; hybla; illinois; htcp; h tcp; bic; copa; ledbat": (
        "congestion-controls cubic-throughput bbr-throughput",
        "a congestion control other than Reno, CUBIC and BBR"),
    "l4s; tcp prague": (
        "dctcp-threshold ecn-threshold",
        "short queues by marks at once (RFC 9330)"),
    "subnet; subnet mask; netmask; cidr; ip address; address plan; vlsm; ipv6 prefix; "
    "wildcard mask; private address; rfc 1918": (
        "",
        "plans of addresses: a prefix of n bits has 2^(32 - n) IPv4 addresses"),
    "mos; mos score; mean opinion score; r factor; e model; pesq; polqa; vmaf; video quality": (
        "jitter-rfc3550 voip-bandwidth",
        "scores of how speech or pictures are heard and seen (ITU-T P.800, G.107)"),
    "codel; fq_codel; fq codel; cake; pie; aqm; sqm": (
        "drain buffer-rule ecn-threshold",
        "queue management that drops or marks before the queue is full, CoDel at 5 ms of wait "
        "that lasts 100 ms (RFC 8289)"),
    "optical power; optical power budget; power budget; link loss budget; dbm; insertion "
    "loss; splitter loss; attenuation; chromatic dispersion; osnr; polarization mode": (
        "shannon-snr bit-error-limit",
        "budgets of light or radio power in dB"),
    "path loss; free space; antenna; fresnel; rsrp; rssi; sinr; eirp; fade margin; rain fade": (
        "shannon-snr shannon",
        "budgets of light or radio power in dB"),
    "tsn; time sensitive; 802 1qbv; 802 1qch; profinet; ethercat; gate control": (
        "delay-bound path-delay-bound priority-wait",
        "schedules of time-sensitive networking (IEEE 802.1Qbv, 802.1Qch)"),
    "netflow; sflow; ipfix; sampling rate; sampling error": (
        "percentile reading-error-std",
        "how well sampled packets estimate traffic"),
    "pfc; priority flow control; pause frame; lossless ethernet; dcqcn": (
        "absorbed-burst drain bdp",
        "the pause of a class before its buffer is full, and the room for what is still under "
        "way"),
    "truck; sneakernet; station wagon; snowball; ship disks; ship disk; courier; by mail": (
        "transfer arrived",
        "disks carried by road: their bytes divided by the time of the trip"),
    "bgp; ospf; eigrp; isis; is is; rip; routing protocol; route reflector; as path; "
    "spanning tree; stp; rstp; hsrp; vrrp; bfd; convergence time of routing; sdn controller": (
        "",
        "protocols that find routes, and their timers"),
    "dhcp; arp; ndp; snmp; ntp server; radius; ldap; nat port; port exhaustion; nat table; "
    "cgnat; carrier grade nat; cgn; conntrack; dnssec; dns record; mdns; netconf; ttl; hop limit": (
        "",
        "services of a network other than carrying packets"),
    "ptp; grandmaster; boundary clock; clock drift; clock synchronization; holdover": (
        "reading-error-std interval-error-std",
        "clocks of several hosts kept alike"),
    "number of vlan; how many vlan; vlan id; vlan limit; vxlan segment; vni; tcam; mac table; "
    "arp table; fib; rib; route table; routing table; acl; firewall rule; flow table": (
        "",
        "how many entries a device can hold, as its maker says"),
    "poe; power over ethernet; watt; wattage; battery life; cooling; btu; temperature; "
    "resistance; ohm; volt; electricity; ups runtime; ups battery; battery": (
        "",
        "electrical power and heat"),
    "dscp; tos byte; traffic class value; cos value; qos marking": (
        "priority-wait wfq-delay",
        "marks in a header, by which routers choose a queue"),
    "lsp; mpls te; rsvp; segment routing; srv6 policy; label distribution": (
        "tunnel-overhead",
        "set-up of paths in MPLS; its labels are a tunnel of 4 bytes each"),
    "multicast; igmp; pim": (
        "",
        "trees of multicast receivers"),
    "raid; disk space; filesystem; ssd endurance; deduplication": (
        "arrived transfer",
        "disks and what is stored on them"),
    "configure; cli command; syntax; status code; error code; port number; wireshark filter; "
    "capture filter; certificate expiry; password; cipher suite; key exchange; licence; "
    "license; response code": (
        "",
        "how programs and keys are managed"),
    "sha256; sha 256; md5; hash function; hash table; bloom filter; birthday": (
        "",
        "hashes of programs"),
    "token ring; fddi; frame relay; x 25; arcnet; lorawan; zigbee; bluetooth; modbus; can bus": (
        "channel-payload atm-overhead wifi-throughput",
        "a medium whose frames netcalc does not have"),
    "roaming; ssid; wpa; wifi channel; channel plan; beacon": (
        "wifi-throughput",
        "plans of radio cells"),
    "cable category; cat6; cat5e; cable length limit; transceiver; sfp; qsfp": (
        "propagation",
        "what a cable or a transceiver may be, as its standard says"),
}  # fmt: skip
"""Spellings of topics without a formula -> the nearest formulas, and what the topic is."""
