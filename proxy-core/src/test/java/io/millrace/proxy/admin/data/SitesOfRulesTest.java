package io.millrace.proxy.admin.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.remap.RemapTable;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SitesOfRulesTest {
    /** A purge of a whole site names each host and port that URLs of clients have. */
    @ParameterizedTest
    @CsvSource({
        "map: http://a.example/, a.example, [a.example]",
        "map: http://a.example:8090/, a.example, [a.example:8090]",
        "map: https://a.example:443/, a.example, [a.example]",
        "map_with_recv_port: http://a.example:9000/, a.example, '[a.example, a.example:9000]'",
        "map: /, any.example, [any.example]",
        "'map: http://a.example:8090/, site: shop', shop, [a.example:8090]",
        "'map_with_recv_port: http://a.example:9000/, site: shop', shop, '[a.example, a.example:9000]'",
        "'map_with_recv_port: http://a.example:80/, site: shop', shop, [a.example]",
        "'regex_map: http://a.*/, site: shop', shop, null"
    })
    void theHostsOfASite(String rule, String site, String hosts) {
        ConfigResult result = ConfigLoader.parse(
                "listen: [127.0.0.1:80, 127.0.0.1:9000]\nremap:\n  - {" + rule + ", to: http://127.0.0.1:9001/}\n",
                "test.yaml",
                Map.of());
        assertNotNull(result.config(), () -> result.problems().toString());
        assertEquals(hosts, String.valueOf(SitesOfRules.hosts(RemapTable.of(result.config()), site)));
    }

    /** A rule without site belongs to the site with the name of its host. The address of the cache is no such host. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{map: /, to: 'http://o'} | web | [www.example]",
                "{map: /, to: 'http://o'} | 192.0.2.1 | [www.example]",
                "{map: /, to: 'http://o'} | a.example | [www.example, a.example]",
                "{map: 'http://web/', to: 'http://o'} | web | [www.example, web]",
                "{map: 'http://web/', to: 'http://o', site: other} | web | [www.example]",
                "{map: 'http://a.example/', to: 'http://o'} | a.example | [www.example, a.example]"
            })
    void aHostWithTheNameOfASite(String other, String site, String hosts) {
        ConfigResult result = ConfigLoader.parse(
                "listen: [127.0.0.1:80]\nremap:\n  - {map: http://www.example/, to: http://o, site: " + site + "}\n  - "
                        + other + "\n",
                "test.yaml",
                Map.of());
        assertNotNull(result.config(), () -> result.problems().toString());
        assertEquals(hosts, String.valueOf(SitesOfRules.hosts(RemapTable.of(result.config()), site)));
    }
}
