package io.millrace.proxy.config.origins;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;

/** Configuration keys for HTTP/2 with clients and with origins. */
public final class Http2Keys {
    public static final ConfigKey<Boolean> LISTEN = ConfigKey.builder("listen[].http2", ValueType.BOOLEAN)
            .defaultsTo(true)
            .rolling()
            .atsName("proto")
            .description("Whether clients of an address with tls are offered HTTP/2 (ALPN h2) before HTTP/1.1.");
    public static final ConfigKey<Boolean> LISTEN_CLEAR = ConfigKey.builder("listen[].h2c", ValueType.BOOLEAN)
            .defaultsTo(false)
            .rolling()
            .description("Whether clients of an address without tls may begin with HTTP/2 at once (prior knowledge);"
                    + " HTTP/1.1 works there too.");
    public static final ConfigKey<OriginConfig.Http2> GROUP = ConfigKey.builder(
                    "origins[].http2", ValueType.word(OriginConfig.Http2.class, false))
            .description("As origin.http2, for the hosts of the group; the default is the value of the rule.");
    public static final ConfigKey<Integer> STREAMS = ConfigKey.builder("http2.streams", ValueType.INTEGER)
            .within(1, 100_000)
            .defaultsTo(100)
            .atsName("proxy.config.http2.max_concurrent_streams_in")
            .description("Requests of one HTTP/2 connection at the same time; one more is refused (REFUSED_STREAM).");
    public static final ConfigKey<Long> HEADER_LIST = ConfigKey.builder("http2.header_list", ValueType.SIZE)
            .within(1024L, 1024L * 1024)
            .defaultsTo(64L * 1024)
            .atsName("proxy.config.http2.max_header_list_size")
            .description(
                    "Largest field section of an HTTP/2 request, with 32 bytes added for each field. A larger one is"
                            + " answered with 431; if its encoded form is more than twice this limit, the connection"
                            + " ends.");
    public static final ConfigKey<Integer> RESETS = ConfigKey.builder("http2.resets", ValueType.INTEGER)
            .within(1, 1_000_000)
            .defaultsTo(200)
            .atsName("proxy.config.http2.max_rst_stream_frames_per_minute")
            .description(
                    "Requests that a client may reset before they are answered, in 30 s; one more ends the connection"
                            + " (ENHANCE_YOUR_CALM).");
    public static final ConfigKey<Integer> STREAM_FAULTS = ConfigKey.builder("http2.stream_faults", ValueType.INTEGER)
            .within(1, 1_000_000)
            .defaultsTo(200)
            .atsName("proxy.config.http2.stream_error_rate_threshold")
            .description("Streams of one connection that may end by a fault of the client, in 30 s; one more ends the"
                    + " connection (ENHANCE_YOUR_CALM).");
    public static final ConfigKey<Integer> CONTROL_FRAMES = ConfigKey.builder("http2.control_frames", ValueType.INTEGER)
            .within(10, 10_000_000)
            .defaultsTo(3000)
            .atsName("proxy.config.http2.max_settings_frames_per_minute, proxy.config.http2.max_ping_frames_per_minute,"
                    + " proxy.config.http2.max_priority_frames_per_minute")
            .description("Control frames of one connection in 30 s: SETTINGS, PING, PRIORITY, GOAWAY, DATA without"
                    + " content, unknown frames, and WINDOW_UPDATE without a response in progress. One more"
                    + " ends the connection (ENHANCE_YOUR_CALM).");
    public static final ConfigKey<Long> STREAM_WINDOW = ConfigKey.builder("http2.stream_window", ValueType.SIZE)
            .within(65_535L, 16L * 1024 * 1024)
            .defaultsTo(256L * 1024)
            .atsName("proxy.config.http2.initial_window_size_in")
            .description("Content of one HTTP/2 request that a client may send before the origin takes any of it. While"
                    + " memory is scarce, the limit is lower.");

    public static final ConfigKey<OriginConfig.Http2> ORIGIN = ConfigKey.builder(
                    "origin.http2", ValueType.word(OriginConfig.Http2.class, false))
            .defaultsTo(OriginConfig.Http2.OFF)
            .perRule()
            .description("HTTP/2 for origins: off (HTTP/1.1 only), alpn (if an https origin chooses it in the TLS"
                    + " handshake, else HTTP/1.1), or prior_knowledge (always, for http origins too).");
    public static final ConfigKey<Integer> ORIGIN_STREAMS = ConfigKey.builder("origin.http2_streams", ValueType.INTEGER)
            .within(1, 100_000)
            .defaultsTo(100)
            .atsName("proxy.config.http2.max_concurrent_streams_out")
            .description(
                    "Concurrent requests of one HTTP/2 connection to an origin, if the origin allows as many; further"
                            + " requests use another connection.");
    public static final ConfigKey<Long> ORIGIN_STREAM_WINDOW = ConfigKey.builder(
                    "origin.http2_stream_window", ValueType.SIZE)
            .within(16L * 1024, 16L * 1024 * 1024)
            .defaultsTo(256L * 1024)
            .atsName("proxy.config.http2.initial_window_size_out")
            .description("Content of one HTTP/2 response that an origin may send before this proxy reads any of it.");

    private Http2Keys() {}
}
