package io.millrace.proxy.config.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ConfigChange;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.config.yaml.FlowText;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.output.LogDestination;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Problems of a list of access logs, with the key and the reason. */
class LogChecksTest {
    private static final String RULES = "listen: [':1']\nremap: [{map: /, to: 'http://o/'}]\n";

    @TempDir
    Path directory;

    private ConfigResult read(String access, Map<String, String> overrides) {
        return ConfigLoader.parse(
                RULES + "log: {access: " + access.replace('`', '"') + "}\n", "m.yaml", directory, overrides);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[]                                      | log.access: is empty; write log.access: {enabled: false}",
                "[{format: json}]                        | log.access[0].name: missing",
                "[{name: 'a b'}]                         | log.access[0].name: 'a b' is not a name of 1 to 32",
                "[{name: a}, {name: a}]                  | log.access[1].name: is the name of log.access[0] too",
                "[{name: a, path: x}, {name: b, path: x}]| log.access[1]: writes to the same place as log.access[0]",
                "[{name: a, target: stdout}, {name: b, target: stdout}] | log.access[1]: writes to the same place",
                "[{name: a, target: pipe}]               | log.access[0].target: 'pipe' is none of file, syslog",
                "[{name: a, target: 'extension:'}]       | log.access[0].target: '' is not the name of an extension",
                "[{name: a, target: 'extension:e', format: json}] | log.access[0].format: is only for the target file,",
                "[{name: a, target: 'extension:e', path: x}] | log.access[0].path: is only for the target file",
                "[{name: a, target: 'extension:e'}, {name: b, target: 'extension:e'}] | log.access[1]: writes to the",
                "[{name: a, target: syslog}]             | log.access[0]: needs syslog.address",
                "[{name: a, syslog: {address: `udp://h:1`}}] | log.access[0].syslog.address: is only for the target",
                "[{name: a, syslog: {severity: info}}]   | log.access[0].syslog.severity: is only for the target syslog",
                "[{name: a, target: stdout, path: x}]    | log.access[0].path: is only for the target file",
                "[{name: a, journald: {socket: x}}]      | log.access[0].journald.socket: is only for the target jour",
                "[{name: a, target: syslog, syslog: {address: `h:1`}}] | log.access[0].syslog.address: 'h:1' is not",
                "[{name: a, target: syslog, syslog: {address: `tcp://h:0`}}] | port 0 is not within 1 to 65535",
                "[{name: a, target: syslog, syslog: {address: `tcp://h:1`, ca_file: x}}] | needs an address with tls",
                "[{name: a, target: syslog, syslog: {address: `tls://h:1`, ca_file: x}}] | x: no such file",
                "[{name: a, target: syslog, syslog: {address: `tls://h:1`, key: x}}]     | needs both syslog.cert",
                "[{name: a, filter: 'stauts == 200'}]    | log.access[0].filter: position 1:1: unknown field 'stauts'",
                "[{name: a, filter: 'status == `200`'}]  | position 1:11: status is compared with a whole number",
                "[{name: a, filter: 'status == 200 &'}]  | position 1:15",
                "[{name: a, sample: 0}]                  | log.access[0].sample: 0 is below the limit of 1",
                "[{name: a, sample: 10}]                 | log.access[0].sample: is not in the lines of this format",
                "[{name: a, fields: [chi]}]              | log.access[0].fields: is only for the format binary",
                "[{name: a, format: binary, fields: [chi, cho]}] | 'cho' is not the code of a log field (did you mean",
                "[{name: a, format: binary, fields: ['%<chi>']}] | '%<chi>' is not a code; write it without %<>",
                "[{name: a, format: binary, target: stdout}] | log.access[0].format: binary is only for the target file",
                "[{name: a, format: binary, sample: 9, fields: [chi]}] | log.access[0].sample: is not in the lines of",
                "{format: json, fields: [chi]}           | log.access.fields: is only for the format binary",
                "[{name: a, format: binary, fields: ['{A}cqh', '{B}cqh', '{C}cqh', '{D}cqh', '{E}cqh']},"
                        + " {name: b, format: '%<{F}cqh>%<{G}cqh>%<{H}cqh>%<{I}cqh>'}]"
                        + " | log.access: the templates of all logs name 9 header fields",
                "[{name: a, format: '%<{A}cqh>%<{B}cqh>%<{C}cqh>%<{D}cqh>%<{E}cqh>'},"
                        + " {name: b, format: '%<{F}cqh>%<{G}cqh>%<{H}cqh>%<{I}cqh>'}]"
                        + " | log.access: the templates of all logs name 9 header fields",
            })
    void aProblemHasItsPlaceAndTheReason(String access, String expected) {
        String text = read(access, Map.of()).text().replace(directory + "/", "");
        assertTrue(text.contains(expected), text);
        assertTrue(text.startsWith("m.yaml:3:"), text);
    }

    @Test
    void moreThanSixteenLogsAreRefused() {
        StringBuilder logs = new StringBuilder("[");
        for (int i = 0; i < 17; i++) {
            logs.append("{name: l").append(i).append("},");
        }
        assertTrue(read(logs + "]", Map.of()).text().contains("has 17 logs, the limit is 16"));
    }

    @Test
    void oneLogAndAListCannotBeSetTogether() {
        String text = read("[{name: a}]", Map.of("log.access.format", "json")).text();
        assertTrue(text.contains("log.access.format: applies to a single access log, but log.access is a list"), text);
    }

    @Test
    void aSectionIsStillTheOneLog() {
        ConfigResult result = read("{format: json, path: x.log}", Map.of());
        assertEquals("", result.text());
        ProxyConfig config = result.config();
        assertNotNull(config);
        assertEquals(List.of(), config.log().accessLogs());
        assertEquals("json", config.log().accessFormat().toString());
    }

    @Test
    void theWholeListIsReadAndCanBeSetAsOneText() {
        String list = "[{name: all, format: json, sample: 100, sample_by: client, path: all.log, rotate_keep: 3},"
                + " {name: bad, filter: 'status >= 500', target: syslog, syslog: {address: 'tcp://[::1]:601'}}]";
        ProxyConfig config = read(list, Map.of()).config();
        assertNotNull(config);
        assertEquals(2, config.log().accessLogs().size());
        assertEquals(100, config.log().accessLogs().get(0).sampleRate());
        assertTrue(config.log().accessLogs().get(0).destination() instanceof LogDestination.ToFile file
                && directory.resolve("all.log").equals(file.path())
                && file.rotateKeep() == 3);
        String text = FlowText.of(config.values(), LogKeys.LOGS, 10_000);
        ProxyConfig again =
                read("{}", Map.of("log.access", String.valueOf(text))).config();
        assertNotNull(again, text);
        assertEquals(config.log().accessLogs(), again.log().accessLogs());
    }

    @Test
    void aBinaryLogHasItsOwnFileNameAndFields() {
        ProxyConfig config = read(
                        "[{name: a, format: binary, sample: 9, fields: [chi, sample, '{Accept}cqh']}]", Map.of())
                .config();
        assertNotNull(config);
        ProxyConfig placed = config.toBuilder().accessLogsBelow(directory).build();
        assertTrue(placed.log().accessLogs().get(0).destination() instanceof LogDestination.ToFile file
                && directory.resolve("a.blog").equals(file.path()));
        assertTrue(placed.log().accessLogs().get(0).format().isBinary());
        assertNotEquals(AccessLogFormat.BINARY, placed.log().accessLogs().get(0).format());
    }

    @Test
    void aChangeWithinTheListIsLiveAndOneFromOrToASingleLogNeedsANewWorker() {
        ProxyConfig one = read("{}", Map.of()).config();
        ProxyConfig list = read("[{name: a}]", Map.of()).config();
        ProxyConfig longer = read("[{name: a}, {name: b}]", Map.of()).config();
        assertNotNull(one);
        assertNotNull(list);
        assertNotNull(longer);
        assertEquals(
                ConfigKey.Apply.ROLLING, ConfigChange.between(one, list).get(0).apply());
        assertEquals(
                ConfigKey.Apply.ROLLING, ConfigChange.between(list, one).get(0).apply());
        assertEquals(
                ConfigKey.Apply.LIVE, ConfigChange.between(list, longer).get(0).apply());
        assertEquals(1, ConfigChange.between(list, longer).size());
    }
}
