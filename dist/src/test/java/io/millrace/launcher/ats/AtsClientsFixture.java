package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;

/** Some clients, and the subset of them that the imported configuration admits. */
abstract class AtsClientsFixture extends AtsFixture {
    static final List<String> ADDRESSES =
            List.of("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.9", "127.0.0.1", "2001:db8::1", "::1");

    /** All clients, as {@link #letIn} names them. */
    static final String EVERYBODY = String.join(" ", ADDRESSES);

    private static final IpAddress LOCAL = ip("10.9.9.9");

    private static IpAddress ip(String text) {
        try {
            return IpAddress.of(InetAddress.getByName(text).getAddress());
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    /** Returns the imported configuration, which must pass the check. */
    ProxyConfig checked() {
        String yaml = samples.result().yaml();
        assertNotNull(yaml, () -> String.join("\n", samples.result().problems()));
        ConfigResult result = ConfigLoader.parse(yaml, "millrace.yaml", directory, Map.of());
        assertTrue(result.isOk(), result::text);
        return result.config();
    }

    /** Returns the access rules of the imported configuration. */
    AccessRules rules() {
        return AccessRules.of(checked());
    }

    static boolean passes(AccessRules rules, int rule, String address, String method) {
        TargetUri target = (TargetUri) TargetUri.parseAbsolute("http://a/");
        RequestHead request = RequestHead.of(method, target, FieldSection.EMPTY);
        return rules.denial(rule, request, ip(address), LOCAL) == null;
    }

    /** Returns the clients that one rule admits. */
    String letIn(int rule, String method) {
        AccessRules rules = rules();
        return String.join(
                " ",
                ADDRESSES.stream()
                        .filter(address -> passes(rules, rule, address, method))
                        .toList());
    }
}
