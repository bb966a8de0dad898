package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that forwarding is off unless the file has all required settings. */
final class ConfigForwardProxyTest {
    private static ConfigResult load(String forward) {
        String rest = "listen: [':8080']\nremap: [{map: /, to: 'http://o'}]\n";
        return ConfigLoader.parse(rest + forward, "t.yaml", Map.of());
    }

    @Test
    void isOffUnlessItIsTurnedOn() {
        assertFalse(ProxyConfig.defaults().forwardProxy().enabled());
        assertEquals(List.of(443), ProxyConfig.defaults().forwardProxy().connectPorts());
        assertEquals("", load("forward_proxy: {connect_ports: []}").text());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{enabled: true} | 3:17: forward_proxy.allow: missing; set the clients whose requests are forwarded, such as [10.0.0.0/8]",
                "{enabled: true, allow: [10.0.0.0/33]} | 3:39: forward_proxy.allow: '10.0.0.0/33' has a prefix that is not 0 to 32 bits long",
                "{connect_ports: [0]} | 3:32: forward_proxy.connect_ports: '0' is not a port from 1 to 65535",
                "{connect_ports: [443, 65536]} | 3:32: forward_proxy.connect_ports: '65536' is not a port from 1 to 65535",
                "{connect_ports: ['*']} | 3:32: forward_proxy.connect_ports: '*' is not a port from 1 to 65535",
                "{deny_destinations: [private]} | 3:36: forward_proxy.deny_destinations: 'private' is neither an address nor a range such as 10.0.0.0/8 or 10.0.0.1-10.0.0.9",
            })
    void reportsTheFault(String forward, String expected) {
        List<String> problems = load("forward_proxy: " + forward).problems().stream()
                .map(ConfigProblem::toString)
                .toList();
        assertEquals(List.of("t.yaml:" + expected), problems);
    }

    @Test
    void namesAGroupOfProxies() {
        String group = "\norigins: [{name: egress, hosts: ['http://p'], parent_is_proxy: ";
        assertEquals(
                "", load("forward_proxy: {origins: egress}" + group + "true}]").text());
        assertEquals(
                List.of("t.yaml:3:17: forward_proxy.origins: the hosts of origins[0] 'egress' are not proxies;"
                        + " set parent_is_proxy: true in that group, or name another group"),
                errors("forward_proxy: {origins: egress}" + group + "false}]"));
        assertEquals(
                List.of("t.yaml:3:17: forward_proxy.origins: no group of origins is named 'egres' "
                        + "(did you mean egress?)"),
                errors("forward_proxy: {origins: egres}" + group + "true}]"));
    }

    private static List<String> errors(String forward) {
        return load(forward).problems().stream()
                .filter(problem -> problem.severity() == ConfigProblem.Severity.ERROR)
                .map(ConfigProblem::toString)
                .toList();
    }
}
