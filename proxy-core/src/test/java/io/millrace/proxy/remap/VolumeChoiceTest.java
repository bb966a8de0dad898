package io.millrace.proxy.remap;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.http.TargetUri;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VolumeChoiceTest {
    @ParameterizedTest
    @CsvSource({
        "http://img.example.com/a, images",
        "http://IMG.example.com/a, images",
        "http://www.example.com/a, pages",
        "http://a.b.example.com/a, pages",
        "http://cdn.img.example.com/a, deep",
        "http://example.com/a, default",
        "http://notexample.com/a, default",
        "http://api.example.com/v1/a, api",
        "http://other.org/, default"
    })
    void aRuleGoesBeforeAHostAndAHostBeforeADomain(String url, String expected) {
        ProxyConfig config = ProxyConfig.builder()
                .map(
                        "http://api.example.com/v1/",
                        "http://origin/",
                        ConfigValues.builder()
                                .set(ConfigKeys.CACHE_VOLUME, "api")
                                .build())
                .map("/", "http://origin/")
                .volume("images", "30%", List.of("img.example.com"))
                .volume("pages", "20%", List.of("*.example.com"))
                .volume("deep", "1%", List.of(".img.example.com"))
                .volume("api", "5%", List.of())
                .build();
        TargetUri target = (TargetUri) TargetUri.parseAbsolute(url);
        RemapResult mapped = RemapTable.of(config).match(target);
        assertEquals(expected, VolumeChoice.of(config).volume(target, (Mapped) mapped));
    }

    /** A volume for the scheme precedes one for any scheme with the same name, and holds the hosts of no other one. */
    @ParameterizedTest
    @CsvSource({
        "http://img.example.com/a, images",
        "https://img.example.com/a, secure-images",
        "http://www.example.com/a, pages",
        "https://www.example.com/a, pages",
        "https://other.org/, secure",
        "http://other.org/, default",
        "https://api.example.com/v1/a, api"
    })
    void theSchemeOfTheClientsUrlDecidesToo(String url, String expected) {
        ConfigResult result = ConfigLoader.parse("""
                listen: [':1']
                storage: [{path: /var/cache/a, size: 10GiB}]
                volumes:
                  - {name: secure, share: 10%, scheme: https}
                  - {name: images, share: 10%, hosts: [img.example.com]}
                  - {name: secure-images, share: 10%, hosts: [img.example.com], scheme: https}
                  - {name: pages, share: 10%, hosts: ["*.example.com"]}
                  - {name: api, share: 10%}
                remap:
                  - {map: "https://api.example.com/v1/", to: "http://o/", cache: {volume: api}}
                  - {map: /, to: "http://o/"}
                """, "m.yaml", Map.of());
        ProxyConfig config = Objects.requireNonNull(result.config(), result::text);
        TargetUri target = (TargetUri) TargetUri.parseAbsolute(url);
        RemapResult mapped = RemapTable.of(config).match(target);
        assertEquals(expected, VolumeChoice.of(config).volume(target, (Mapped) mapped));
    }
}
