package io.millrace.proxy.config.origins;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import java.time.Duration;
import java.util.List;

/** Configuration keys for tunnels: which protocols rules permit, and timeouts and limits of tunnels. */
public final class TunnelKeys {
    public static final ConfigKey<Integer> GROUP_MAX = ConfigKey.builder("origins[].tunnels_max", ValueType.INTEGER)
            .within(1, 1_000_000)
            .description("As origin.tunnels_max, for each host of the group; the default is that key.");
    public static final ConfigKey<List<String>> UPGRADE = ConfigKey.builder("upgrade", ValueType.PROTOCOLS)
            .defaultsTo(List.of())
            .perRule()
            .description("Protocols, such as websocket, that a client's connection may switch to if the origin accepts;"
                    + " requests for other protocols continue without Upgrade. Rules for ws:// and wss://"
                    + " permit websocket.");
    public static final ConfigKey<Duration> IDLE = ConfigKey.builder("timeouts.tunnel_idle", ValueType.DURATION)
            .within(Duration.ofMillis(500), Duration.ofDays(7))
            .defaultsTo(Duration.ofMinutes(10))
            .atsName("proxy.config.websocket.no_activity_timeout")
            .description("A tunnel without bytes in either direction for this time is closed.");
    public static final ConfigKey<Duration> MAX = ConfigKey.builder("timeouts.tunnel_max", ValueType.DURATION)
            .within(Duration.ofSeconds(1), Duration.ofDays(366))
            .orZero()
            .defaultsTo(Duration.ofDays(1))
            .atsName("proxy.config.websocket.active_timeout")
            .description("Longest duration of a tunnel; 0 sets no limit.");

    public static final ConfigKey<Integer> ORIGIN_MAX = ConfigKey.builder("origin.tunnels_max", ValueType.INTEGER)
            .within(1, 1_000_000)
            .defaultsTo(4096)
            .description(
                    "Tunnels (WebSocket, CONNECT) to one origin by each event loop, counted apart from origin.connections_max;"
                            + " a further one is answered with 503.");

    private TunnelKeys() {}
}
