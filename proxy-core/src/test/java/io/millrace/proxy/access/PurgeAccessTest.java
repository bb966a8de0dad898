package io.millrace.proxy.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.http.FieldSection;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PurgeAccessTest {
    private static final String HEAD = "listen: [':1']\nremap:\n- map: /\n  to: http://o\n";

    private static PurgeAccess access(String yaml) {
        ProxyConfig config =
                ConfigLoader.parse(HEAD + yaml, "millrace.yaml", Map.of()).config();
        return AccessRules.of(config).purges();
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, true",
        "127.255.255.255, true",
        "::1, true",
        "::ffff:127.0.0.1, true",
        "128.0.0.1, false",
        "::2, false",
        "192.0.2.1, false"
    })
    void loopbackMayByDefault(String address, boolean may) throws Exception {
        for (int rule : new int[] {0, AccessRules.NO_RULE}) {
            String refusal = access("").refusal(rule, InetAddress.getByName(address), FieldSection.EMPTY);
            assertEquals(may, refusal == null, refusal);
        }
    }

    @Test
    void ruleSpeaksForWhatItMapsOnly() throws Exception {
        PurgeAccess access = access("  purge: {allow: [10.0.0.0/8]}\npurge: {allow: [192.0.2.1]}\n");
        InetAddress ten = InetAddress.getByName("10.1.2.3");
        InetAddress other = InetAddress.getByName("192.0.2.1");
        assertNull(access.refusal(0, ten, FieldSection.EMPTY));
        assertEquals(
                "purge.allow of remap[0] does not contain 192.0.2.1", access.refusal(0, other, FieldSection.EMPTY));
        assertNull(access.refusal(AccessRules.NO_RULE, other, FieldSection.EMPTY));
        assertEquals(
                "purge.allow does not contain 10.1.2.3", access.refusal(AccessRules.NO_RULE, ten, FieldSection.EMPTY));
        assertEquals(
                "purge.allow of remap[0] does not contain your address", access.refusal(0, null, FieldSection.EMPTY));
    }

    @Test
    void nobodyMayWithNone() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        for (String list : List.of("none", "[none]")) {
            PurgeAccess access = access("purge: {allow: " + list + "}\n");
            assertTrue(access.refusal(0, loopback, FieldSection.EMPTY) != null, list);
        }
    }

    /** An empty list would be read as nobody by one and as the default by another. */
    @Test
    void emptyListIsAProblem() {
        assertEquals(
                "millrace.yaml:5:16: purge.allow: is empty; omit the key for the default: 127.0.0.0/8, ::1",
                ConfigLoader.parse(HEAD + "purge: {allow: []}\n", "millrace.yaml", Map.of())
                        .text()
                        .strip());
    }

    @Test
    void badAddressIsAProblemWithItsPlace() {
        assertEquals(
                List.of(
                        "millrace.yaml:5:11: remap[0].purge.allow: 'localhost' is neither an address nor a range such as 10.0.0.0/8",
                        "millrace.yaml:6:9: purge.allow: '10.0.0.1/8' has bits set beyond its prefix of 8"),
                ConfigLoader.parse(
                                HEAD + "  purge: {allow: [localhost]}\npurge: {allow: [10.0.0.1/8]}\n",
                                "millrace.yaml",
                                Map.of())
                        .problems()
                        .stream()
                        .map(ConfigProblem::toString)
                        .sorted()
                        .toList());
    }
}
