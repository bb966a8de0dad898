package io.millrace.proxy.config.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import io.millrace.proxy.config.value.Environment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests how a configuration that the fleet has pushed is combined with the local file of a node. */
class PushedDocumentTest {
    private static final Environment ENVIRONMENT = new Environment(name -> name.equals("ORIGIN") ? "o.example" : null);

    private static final String KEY = """
            -----BEGIN PUBLIC KEY-----
            MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
            -----END PUBLIC KEY-----
            """;

    @TempDir
    Path directory;

    private Path file;

    @BeforeEach
    void writeFile() throws IOException {
        Path key = Files.writeString(directory.resolve("key.pem"), KEY);
        file = Files.writeString(
                directory.resolve("m.yaml"),
                "listen: [':1']\nremap: [{map: http://local/, to: http://l/}]\ncache: {ram_size: 64MiB}\n"
                        + "fleet: {name: cdn, servers: ['nats://a:4222'], node: n1, tier: edge,"
                        + " config_public_key_file: " + key + "}\n");
    }

    private ConfigResult load(String pushed, Map<String, String> overrides) {
        return ConfigLoader.load(file, new Pushed(7, pushed), overrides, ENVIRONMENT);
    }

    private ProxyConfig good(String pushed) {
        ConfigResult result = load(pushed, Map.of());
        assertTrue(result.isOk(), result::text);
        return result.config();
    }

    /** Workers read the text again that the launcher has checked: with the pushed part, overrides and overlay. */
    @Test
    void aCheckedTextIsReadEquallyWithoutChecks() {
        ConfigResult checked =
                load("remap: [{map: /, to: 'http://o/', cache: {enabled: false}}]\nvia: {name: n9}\n", Map.of());
        assertTrue(checked.isOk(), checked::text);
        ConfigDocument document = checked.document();
        Map<String, String> overrides = Map.of("cache.ram_size", "1GiB");
        Map<String, String> overlay = Map.of("via.name", "n8");
        ConfigResult expected = ConfigLoader.parse(document, overrides, overlay);
        ConfigResult again = ConfigLoader.parseChecked(document, overrides, overlay);
        assertEquals(expected.config(), again.config());
        assertEquals(expected.places(), again.places());
        assertEquals(List.of(), again.problems());
        assertEquals("n8", again.config().via().name());
        ConfigDocument unchecked = new ConfigDocument(
                "m.yaml", directory, "listen: [':1']\nremap: [{map: /, to: http://o/, origins: none}]\n", Map.of());
        assertEquals(
                1, ConfigLoader.parse(unchecked, Map.of(), Map.of()).problems().size());
        assertEquals(
                List.of(),
                ConfigLoader.parseChecked(unchecked, Map.of(), Map.of()).problems());
        ConfigDocument unreadable = new ConfigDocument("m.yaml", directory, "listen: [':x']\n", Map.of());
        assertNull(ConfigLoader.parseChecked(unreadable, Map.of(), Map.of()).config());
    }

    private static List<String> maps(ProxyConfig config) {
        return config.values().elements(ConfigKeys.REMAP).stream()
                .map(rule -> String.valueOf(rule.find(io.millrace.proxy.config.remap.RemapKeys.MAP)))
                .toList();
    }

    private static final String PUSHED = """
            cache: {ram_size: 32MiB}
            remap:
              - {map: 'http://www.example/', to: 'http://${ORIGIN}/'}
            tiers:
              edge:
                cache: {ram_size: 48MiB}
                remap: [{map: 'http://edge.example/', to: 'http://${fleet.tier}.example/'}]
              parent:
                cache: {ram_size: 1MiB}
                remap: [{map: 'http://parent.example/', to: 'http://${MISSING}/'}]
            nodes:
              n1:
                remap: [{map: 'http://own.example/', to: 'http://${fleet.node}.example/'}]
              n2:
                remap: [{map: 'http://n2.example/', to: 'http://p/'}]
            """;

    @Test
    void overlaysOfTierAndNodeAreAddedAndOthersAreNot() {
        ProxyConfig config = good(PUSHED);
        assertEquals(48L << 20, config.cache().ramBytes());
        assertEquals(List.of("http://www.example/", "http://edge.example/", "http://own.example/"), maps(config));
        assertEquals("http://o.example/", String.valueOf(to(config, 0)));
        assertEquals("http://edge.example/", String.valueOf(to(config, 1)));
        assertEquals("http://n1.example/", String.valueOf(to(config, 2)));
        assertEquals(1, config.listeners().size(), "the listeners are those of the local file");
    }

    private static Object to(ProxyConfig config, int rule) {
        return config.values().elements(ConfigKeys.REMAP).get(rule).find(io.millrace.proxy.config.remap.RemapKeys.TO);
    }

    @Test
    void theDocumentIsReadAgainWithTheSameResult() {
        ConfigResult result = load(PUSHED.replace("${ORIGIN}", "o").replace("${MISSING}", "p"), Map.of());
        ConfigDocument document = result.document();
        assertEquals("fleet://config/7", document.pushedName());
        assertEquals(
                result.config(),
                ConfigLoader.parse(document, Map.of(), Map.of()).config());
        assertNull(document.withPushed(null).pushedName());
        assertEquals(
                "fleet://config/7:6:13", result.places().get("cache.ram_size").text());
    }

    @Test
    void theFileWinsIfItTurnsTheConfigurationOfTheFleetOff() {
        ConfigResult off = load(PUSHED, Map.of("fleet.config", "false"));
        assertEquals(List.of("http://local/"), maps(off.config()));
        ConfigResult overridden = load(PUSHED, Map.of("cache.ram_size", "5MiB"));
        assertEquals(5L << 20, overridden.config().cache().ramBytes());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    admin: {listen: ':9'}                          | 1:1 | admin | belongs to the node
                    fleet: {node: other}                           | 1:1 | fleet | belongs to the node
                    alarms: {exec: {command: /bin/true}}           | 1:10 | alarms.exec | runs a program
                    worker: {java_home: /opt}                      | 1:10 | worker.java_home | runs a program
                    tls: {acme: {dns_hook: /h}}                    | 1:14 | tls.acme.dns_hook | runs a program
                    include: [a.yaml]                              | 1:1 | include | names a file
                    signed_urls: {keys: k}                         | 1:15 | signed_urls.keys | may have a secret
                    extensions: [{name: a, jar: a.jar}]            | 1:1 | extensions | runs a program
                    jwt: {keys_file: k.json}                       | 1:7 | jwt.keys_file | may have a secret
                    listen: ['unix:/run/m.sock']                   | 1:10 | listen[0] | socket that the node creates
                    listen: [{address: 'unix:/run/m.sock'}]        | 1:20 | listen[0].address | socket that the node creates
                    listen: [{address: ':1', socket_mode: "0666"}] | 1:26 | listen[0].socket_mode | belongs to the node
                    listen: [{address: ':1', socket_owner: root}]  | 1:26 | listen[0].socket_owner | belongs to the node
                    remap: [{map: /, to: 'http://o/', basic_auth: {file: f}}] | 1:48 | remap[0].basic_auth.file | may have a secret
                    tiers: {parent: {admin: {listen: ':9'}}}       | 1:18 | admin | belongs to the node
                    nodes: {n2: {storage: [{path: /dev/sda}]}}     | 1:25 | storage[0].path | writes
                    nodes: {n2: {cahce: {}}}                       | 1:14 | cahce | unknown key
                    nodes: {'a b': {}}                             | 1:9 | nodes | is not a name
                    nodes: [n1]                                    | 1:1 | nodes | must be a section
                    cache: {ram_size: much}                        | 1:19 | cache.ram_size | much
                    remap: [{map: /, to: 'http://${MISSING}/'}]    | 1:22 | remap[0].to | MISSING is not set
                    """)
    void aPushedConfigurationIsRefused(String pushed, String position, String key, String reason) {
        ConfigResult result = load(pushed, Map.of());
        assertNull(result.config(), pushed);
        String text = result.text();
        assertTrue(
                text.contains("fleet://config/7:" + position) && text.contains(key) && text.contains(reason),
                () -> pushed + ": " + text);
    }

    @Test
    void theLocalFileHasNoNodeNames() throws IOException {
        Files.writeString(file, "listen: [':1']\nremap: [{map: /, to: 'http://${fleet.node}/'}]\n");
        ConfigResult result = ConfigLoader.load(file, Map.of());
        assertTrue(result.text().contains("${fleet.node} has a value only in the configuration"), result::text);
        assertTrue(ConfigCatalog.find("fleet.config") != null);
    }

    @Test
    void aFileThatIsNoKeyIsRefused() throws IOException {
        Files.writeString(directory.resolve("key.pem"), "secret");
        assertTrue(load("cache: {ram_size: 1MiB}", Map.of()).text().contains("has no line '-----BEGIN PUBLIC KEY"));
        Files.writeString(directory.resolve("key.pem"), KEY.replace("MCow", "MCox"));
        assertTrue(load("cache: {ram_size: 1MiB}", Map.of()).text().contains("is no Ed25519 public key"));
    }

    @Test
    void aSwitchWithoutAKeyIsRefused() throws IOException {
        ConfigResult result = ConfigLoader.parse(
                "listen: [':1']\nremap: []\nfleet: {name: c, servers: ['nats://a:1'], node: n, config: true}\n",
                "m.yaml",
                Map.of());
        assertTrue(result.text().contains("needs fleet.config_public_key_file"), result::text);
    }
}
