package io.millrace.proxy;

import io.millrace.proxy.access.OwnAddresses;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.geo.GeoKeys;
import io.millrace.proxy.dns.DnsSettings;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.exchange.settings.ForwardSettings;
import io.millrace.proxy.extension.ExtensionSet;
import io.millrace.proxy.geo.GeoFiles;
import io.millrace.proxy.http1.Http1Settings;
import io.millrace.proxy.http2.Http2Settings;
import io.millrace.proxy.net.protocol.ProxyHeaderDecoder;
import io.millrace.proxy.server.DnsSettingsFactory;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a proxy that a reload replaces, all at the same time. Immutable.
 *
 * @param acceptedHeaders settings of PROXY headers for listening addresses that accept them
 * @param requiredHeaders settings of PROXY headers for listening addresses that require them
 */
record LiveSettings(
        ProxyConfig config,
        ExchangeSettings exchange,
        DnsSettings dns,
        Http1Settings http1,
        Http2Settings http2,
        ProxyHeaderDecoder.Settings acceptedHeaders,
        ProxyHeaderDecoder.Settings requiredHeaders) {
    /**
     * Derives the settings from a configuration.
     *
     * @param startConfig the configuration with which the proxy was built, for settings that a reload cannot change
     * @param forwardedBefore the current settings of forwarding, which a reload replaces; null when the proxy is
     * built
     * @param extensions the open extensions
     * @param geo the databases of locations
     */
    static LiveSettings of(
            ProxyConfig config,
            ProxyConfig startConfig,
            @Nullable ForwardSettings forwardedBefore,
            OwnAddresses ownAddresses,
            ExtensionSet extensions,
            GeoFiles geo,
            long nowMillis) {
        return new LiveSettings(
                config,
                ExchangeSettings.of(
                        config,
                        startConfig,
                        ForwardSettings.of(config, startConfig, forwardedBefore, ownAddresses, nowMillis),
                        extensions.chains(config.remap()),
                        GeoKeys.areSet(config.values()) ? geo : null),
                DnsSettingsFactory.of(config.dns()),
                http1(config),
                http2(config),
                proxyHeaders(config, false),
                proxyHeaders(config, true));
    }

    private static Http1Settings http1(ProxyConfig config) {
        return new Http1Settings(
                config.limits().requestLineBytes(),
                config.limits().requestHeaderBytes(),
                config.limits().requestBodyBytes(),
                config.limits().requestsPerConnection(),
                config.timeouts().clientHeaderNanos(),
                config.timeouts().clientKeepAliveNanos(),
                config.timeouts().clientBodyNanos(),
                config.limits().requestBodyRate(),
                config.timeouts().clientBodyWindowNanos(),
                config.timeouts().clientBodyNanos());
    }

    private static Http2Settings http2(ProxyConfig config) {
        return new Http2Settings(
                config.http2().streams(),
                config.http2().headerListBytes(),
                config.http2().resets(),
                config.http2().streamFaults(),
                config.http2().controlFrames(),
                config.limits().requestBodyBytes(),
                config.limits().requestsPerConnection(),
                config.http2().streamWindowBytes(),
                config.timeouts().clientHeaderNanos(),
                config.timeouts().clientKeepAliveNanos(),
                config.timeouts().clientBodyNanos(),
                config.limits().requestBodyRate(),
                config.timeouts().clientBodyWindowNanos(),
                config.timeouts().clientBodyNanos());
    }

    private static ProxyHeaderDecoder.Settings proxyHeaders(ProxyConfig config, boolean required) {
        return new ProxyHeaderDecoder.Settings(
                config.access().proxyProtocolAllow()::contains,
                required,
                config.limits().proxyProtocolHeaderBytes(),
                config.timeouts().clientHeaderNanos());
    }
}
