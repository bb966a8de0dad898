package io.millrace.proxy.config.edge;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.tls.OriginTlsKeys;
import io.millrace.proxy.config.value.RuleUrl;
import java.util.List;
import java.util.stream.Stream;

/** Configuration keys for copies of requests to another origin. Remap rules can override all of them. */
public final class MirrorKeys {
    public static final ConfigKey<RuleUrl> TO = ConfigKey.builder("mirror.to", ValueType.ORIGIN)
            .perRule()
            .description("Origin that gets a copy of each request that this proxy sends to an origin. Its answers are"
                    + " discarded, and no client waits for them. Without this key no copies are made.");
    public static final ConfigKey<Double> SAMPLE = ConfigKey.builder("mirror.sample", ValueType.PERCENT)
            .within(0.0, 1.0)
            .defaultsTo(1.0)
            .perRule()
            .description("Share of the requests that are copied, chosen at random; 0% turns copies off.");
    public static final ConfigKey<Boolean> BODIES = ConfigKey.builder("mirror.bodies", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .description("Whether requests with content, such as POST, are copied, with their content. The other origin"
                    + " must then tolerate that orders and the like arrive twice.");
    public static final ConfigKey<Long> BODY_MAX = ConfigKey.builder("mirror.body_max", ValueType.SIZE)
            .within(1024L, 1L << 20)
            .defaultsTo(64L << 10)
            .perRule()
            .description("Longest content of a copied request; requests with more are not copied.");
    public static final ConfigKey<Integer> CONNECTIONS = ConfigKey.builder("mirror.connections", ValueType.INTEGER)
            .within(1, 1000)
            .defaultsTo(8)
            .perRule()
            .description("Maximum of connections to the other origin, for each event loop.");
    public static final ConfigKey<Integer> QUEUE = ConfigKey.builder("mirror.queue", ValueType.INTEGER)
            .within(0, 10_000)
            .defaultsTo(64)
            .perRule()
            .description("Maximum of copies that wait for a connection, for each event loop; more are dropped.");

    /** All keys except {@link #TO}, including the keys of TLS. They have an effect only if TO is set. */
    static final List<ConfigKey<?>> OTHERS = Stream.concat(
                    Stream.of(SAMPLE, BODIES, BODY_MAX, CONNECTIONS, QUEUE), OriginTlsKeys.MIRROR.all().stream())
            .toList();

    private MirrorKeys() {}
}
