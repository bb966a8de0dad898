package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;

/** Configuration keys for transparent proxies, which clients reach without knowing it. */
public final class TransparentKeys {
    public static final ConfigKey<ListenerConfig.Transparency> LISTEN = ConfigKey.builder(
                    "listen[].transparent", ValueType.word(ListenerConfig.Transparency.class, false))
            .defaultsTo(ListenerConfig.Transparency.OFF)
            .rolling()
            .atsName("tr-in, tr-out, tr-full")
            .description("Transparent proxy (Linux, epoll, needs CAP_NET_ADMIN). in: the address accepts connections to"
                    + " any destination that TPROXY diverts to it. out: requests from it reach origins from the"
                    + " client's address, on a connection of their own. both: in and out.");

    private TransparentKeys() {}
}
