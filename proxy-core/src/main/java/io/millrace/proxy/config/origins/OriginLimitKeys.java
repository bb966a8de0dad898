package io.millrace.proxy.config.origins;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.SourceAddress;
import java.time.Duration;

/** Configuration keys for total connections, source addresses, and the time limit of transactions. */
public final class OriginLimitKeys {
    public static final ConfigKey<Integer> GROUP_TOTAL = ConfigKey.builder(
                    "origins[].connections_total_max", ValueType.INTEGER)
            .within(1, 1_000_000)
            .orZero()
            .atsName("proxy.config.http.per_server.connection.max")
            .description("As origin.connections_total_max, for each host of the group; the default is that key.");
    public static final ConfigKey<SourceAddress> GROUP_SOURCE = ConfigKey.builder(
                    "origins[].source_address", ValueType.SOURCE_ADDRESS)
            .atsName("proxy.local.outgoing_ip_to_bind")
            .description("As origin.source_address, for the hosts of the group; the default is that of the rule.");
    public static final ConfigKey<Duration> TRANSACTION = ConfigKey.builder("timeouts.transaction", ValueType.DURATION)
            .within(Duration.ofMillis(10), Duration.ofDays(366))
            .orZero()
            .defaultsTo(Duration.ZERO)
            .perRule()
            .atsName("proxy.config.http.transaction_active_timeout_in")
            .description(
                    "Longest time from the head of a request to the end of its response, whatever arrives in between. Then a"
                            + " request without a response gets 504, and a response that has begun is broken off."
                            + " 0 sets no limit.");
    public static final ConfigKey<Integer> TOTAL = ConfigKey.builder("origin.connections_total_max", ValueType.INTEGER)
            .within(1, 1_000_000)
            .orZero()
            .defaultsTo(0)
            .atsName("proxy.config.http.per_server.connection.max")
            .description(
                    "Connections to one host and port by all event loops together, idle ones included; further requests wait"
                            + " in the queue, and event loops get free connections in turn. Tunnels do not"
                            + " count. 0 sets no limit.");
    public static final ConfigKey<SourceAddress> SOURCE = ConfigKey.builder(
                    "origin.source_address", ValueType.SOURCE_ADDRESS)
            .defaultsTo(SourceAddress.NONE)
            .perRule()
            .atsName("proxy.local.outgoing_ip_to_bind")
            .description(
                    "Local address of connections to origins: one IPv4 address, one IPv6 address, or both. Without one for"
                            + " the family of the origin's address, the system chooses it.");

    private OriginLimitKeys() {}
}
