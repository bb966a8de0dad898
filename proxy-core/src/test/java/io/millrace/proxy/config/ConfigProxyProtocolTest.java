package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.ProxyProtocolVersion;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the PROXY protocol in the file. */
final class ConfigProxyProtocolTest {
    private static ConfigResult parse(String listen, String access) {
        return ConfigLoader.parse(
                "listen: [" + listen + "]\naccess: {" + access + "}\nremap: [{map: /, to: http://o}]\n",
                "millrace.yaml",
                Map.of());
    }

    @Test
    void addressSettingsControlHeaders() {
        ProxyConfig config = Objects.requireNonNull(parse(
                        "':1', {address: ':2', proxy_protocol: accept}, {address: ':3', proxy_protocol: require}",
                        "proxy_protocol_allow: [10.0.0.0/8]")
                .config());
        assertEquals(
                List.of(
                        ListenerConfig.ProxyProtocol.OFF,
                        ListenerConfig.ProxyProtocol.ACCEPT,
                        ListenerConfig.ProxyProtocol.REQUIRE),
                config.listeners().stream().map(ListenerConfig::proxyProtocol).toList());
        assertEquals("10.0.0.0/8", config.access().proxyProtocolAllow().toString());
    }

    @ParameterizedTest(name = "{0}, {1}: {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "{address: ':2', proxy_protocol: true} | proxy_protocol_allow: 10.0.0.1 | 1:42: listen[0].proxy_protocol: 'true' is none of off, accept, require",
                "{address: ':2', proxy_protocol: accept} | proxy_protocol_allow: [] | 2:32: access.proxy_protocol_allow: is empty; leave the key out to allow nobody",
                "{address: ':2', proxy_protocol: accept} | proxy_protocol_allow: 10.0 | 2:32: access.proxy_protocol_allow: '10.0' is neither an address nor a range such as 10.0.0.0/8 or 10.0.0.1-10.0.0.9"
            })
    void reportsImpossibleSettings(String listen, String access, String problem) {
        assertEquals(
                "[millrace.yaml:" + problem + "]",
                parse(listen, access).problems().toString());
    }

    /**
     * A host named by the client of a forward proxy expects no header, whatever the setting for origins of rules is.
     */
    @Test
    void originsOfRulesGetTheClientAddressAndOtherHostsDoNot() {
        ProxyConfig config = Objects.requireNonNull(
                ConfigLoader.parse("""
                        listen: [":1"]
                        proxy_protocol_out: 2
                        remap:
                          - {map: http://a/, to: http://o}
                          - {map: http://b/, to: http://o, proxy_protocol_out: v1}
                          - {map: http://c/, to: http://o, proxy_protocol_out: none}
                        """, "millrace.yaml", Map.of()).config());
        assertEquals(
                List.of(ProxyProtocolVersion.V2, ProxyProtocolVersion.V1, ProxyProtocolVersion.NONE),
                config.remap().stream().map(RemapRuleConfig::proxyProtocolOut).toList());
        assertEquals(ProxyProtocolVersion.NONE, config.forwardRule().proxyProtocolOut());
    }

    @Test
    void trustedSendersAreRequired() {
        assertEquals(
                "[millrace.yaml:1:26: listen[0].proxy_protocol: needs access.proxy_protocol_allow, the addresses"
                        + " whose headers are trusted]",
                parse("{address: ':2', proxy_protocol: accept}", "").problems().toString());
    }

    @Test
    void warnsOfTrustWithoutProxyProtocol() {
        assertEquals(
                "[millrace.yaml:2:10: warning: access.proxy_protocol_allow: has no effect, because no address in listen"
                        + " has proxy_protocol]",
                parse("':2'", "proxy_protocol_allow: 10.0.0.1").problems().toString());
    }

    @Test
    void newWorkerTakesOverTheSocketsWhereAnAddressBeginsToTakeHeaders() {
        ProxyConfig before = Objects.requireNonNull(parse("':2'", "").config());
        ProxyConfig after = Objects.requireNonNull(
                parse("{address: ':2', proxy_protocol: accept}", "proxy_protocol_allow: 10.0.0.1")
                        .config());
        assertEquals(ConfigKey.Apply.ROLLING, ConfigChange.strongest(ConfigChange.between(before, after)));
    }
}
