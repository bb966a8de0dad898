package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.AddressSet;
import java.time.Duration;

/** Configuration keys for limits per client: upload rate, requests, tunnels and connections. */
public final class ClientLimitKeys {
    private static final long KIB = 1024;
    private static final long MIB = 1024 * KIB;

    public static final ConfigKey<Duration> BODY_WINDOW = ConfigKey.builder(
                    "timeouts.client_body_window", ValueType.DURATION)
            .within(Duration.ofMillis(250), Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(20))
            .description("Time over which limits.request_body_rate is measured.");
    public static final ConfigKey<Long> REQUEST_BODY_RATE = ConfigKey.builder(
                    "limits.request_body_rate", ValueType.SIZE)
            .within(0L, 16 * MIB)
            .defaultsTo(500L)
            .description("Bytes per second of request content that a client must send, on average over"
                    + " timeouts.client_body_window. A slower client is answered with 408. Time in which the"
                    + " proxy does not read is not counted. 0 sets no limit.");
    public static final ConfigKey<Integer> REQUESTS = ConfigKey.builder("limits.per_client.requests", ValueType.INTEGER)
            .within(0, 10_000_000)
            .defaultsTo(1000)
            .description(
                    "Requests of one client that wait for the origin, the disk or the client itself. Further ones are"
                            + " answered with 429. A client is an IPv4 address, or the first 64 bits of an IPv6"
                            + " address. 0 sets no limit.");
    public static final ConfigKey<Integer> TUNNELS = ConfigKey.builder("limits.per_client.tunnels", ValueType.INTEGER)
            .within(0, 10_000_000)
            .defaultsTo(2000)
            .description("Limit of tunnels of one client. Tunnels that are still being set up count too. Further ones"
                    + " are answered with 429. 0 sets no limit.");
    public static final ConfigKey<Integer> CONNECTIONS = ConfigKey.builder(
                    "limits.per_client.connections", ValueType.INTEGER)
            .within(0, 10_000_000)
            .defaultsTo(0)
            .atsName("proxy.config.net.per_client.max_connections_in")
            .description("Connections of one client; further ones are closed at once. 0 sets no limit, because many"
                    + " users may share one address.");
    public static final ConfigKey<AddressSet> EXEMPT = ConfigKey.builder(
                    "limits.per_client.exempt", ValueType.ADDRESSES)
            .defaultsTo(AddressSet.parse("127.0.0.0/8", "::1", "unix:"))
            .description(
                    "Addresses without per-client limits; access.trusted_proxies never have these limits. With ~all (no"
                            + " address) only access.trusted_proxies are exempt.");
    public static final ConfigKey<Long> REQUEST_BUFFER = ConfigKey.builder("origin.request_buffer", ValueType.SIZE)
            .within(0L, 512 * KIB)
            .defaultsTo(64 * KIB)
            .perRule()
            .description("Request content is buffered until it is complete or has this length; then the request takes a"
                    + " connection to the origin. 0 sends content as it arrives. Requests with Expect:"
                    + " 100-continue and gRPC calls are sent at once.");

    private ClientLimitKeys() {}
}
