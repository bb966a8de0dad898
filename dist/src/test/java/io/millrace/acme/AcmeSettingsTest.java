package io.millrace.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.config.tls.AcmeKeys;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that a changed setting applies to the next step of a running service. */
class AcmeSettingsTest {
    private static final String DIRECTORY = "https://one.example/directory";

    @TempDir
    Path directory;

    static List<Map<String, String>> changes() {
        return List.of(
                Map.of("tls.acme.names", "www.example.com, shop.example.com"),
                Map.of("tls.acme.email", "ops@example.com"),
                Map.of("tls.acme.accept_terms", "true"),
                Map.of("tls.acme.issuers", ""),
                Map.of("tls.acme.issuers[].directory", "https://other.example/directory"),
                Map.of("tls.acme.issuers[].eab_key_id", "id"),
                Map.of("tls.acme.issuers[].eab_key_file", "/key"),
                Map.of("tls.acme.ca_file", "/ca.pem"),
                Map.of("tls.acme.challenge", "tls-alpn-01"),
                Map.of("tls.acme.dns_hook", "/hook"),
                Map.of("tls.acme.dns_hook_timeout", "10s"),
                Map.of("tls.acme.profile", "shortlived"),
                Map.of("tls.acme.key_type", "rsa-2048"),
                Map.of("tls.acme.issuances_per_name_per_hour", "7"),
                Map.of("tls.acme.storage", "other"),
                Map.of("tls.acme.on_demand.ask", "http://127.0.0.1:1/ask"),
                Map.of("tls.acme.on_demand.wait", "20s"),
                Map.of("tls.acme.on_demand.pending_max", "7"));
    }

    @ParameterizedTest
    @MethodSource("changes")
    void changeIsTakenOverAtTheNextStep(Map<String, String> change) throws Exception {
        String key = change.keySet().iterator().next();
        String value =
                change.get(key).equals("other") ? directory.resolve("other").toString() : change.get(key);
        boolean onDemand = key.startsWith("tls.acme.on_demand.") && !key.endsWith("ask");
        AcmeConfig before = config(null, "", onDemand);
        AcmeConfig after = config(key, value, onDemand);
        List<AcmeConfig> seen = new ArrayList<>();
        AcmeConfig[] current = {before};
        CertificateIssuer idle = new CertificateIssuer() {
            @Override
            public Issued issue(AcmeConfig.Issuer issuer, String name, @Nullable String previousPem) {
                return new Issued("certificate", 2_000_000_000);
            }

            @Override
            public @Nullable SuggestedRenewal suggestedRenewal(AcmeConfig.Issuer issuer, String pem) {
                return null;
            }
        };
        try (AcmeService service = new AcmeService(
                () -> current[0],
                () -> 1_900_000_000_000L,
                (settings, storage) -> {
                    seen.add(settings);
                    return idle;
                },
                Runnable::run)) {
            service.tick();
            service.tick();
            current[0] = after;
            service.tick();
            assertEquals(List.of(before, after), seen, "one client for each, and none for the same settings");
        }
    }

    private AcmeConfig config(@Nullable String key, String value, boolean onDemand) {
        ProxyConfig.Builder builder = ProxyConfig.builder().set("tls.acme.names", "www.example.com");
        if (onDemand) {
            builder.set("tls.acme.on_demand.ask", "http://127.0.0.1:1/ask");
        }
        ConfigValues.Builder issuer = ConfigValues.builder().set(AcmeKeys.DIRECTORY, DIRECTORY);
        ConfigKey<?> element = key == null ? null : elementKey(key);
        if (element == AcmeKeys.EAB_KEY_FILE) {
            issuer.set(AcmeKeys.EAB_KEY_FILE, Path.of(value));
        } else if (element == AcmeKeys.EAB_KEY_ID) {
            issuer.set(AcmeKeys.EAB_KEY_ID, value);
        } else if (element == AcmeKeys.DIRECTORY) {
            issuer.set(AcmeKeys.DIRECTORY, value);
        } else if (key != null && element == null) {
            builder.set(key, value);
        }
        if (element != AcmeKeys.ISSUERS) {
            builder.acmeIssuer(issuer.build());
        }
        return builder.build().acme().storedIn(directory);
    }

    private static @Nullable ConfigKey<?> elementKey(String path) {
        return List.<ConfigKey<?>>of(AcmeKeys.ISSUERS, AcmeKeys.DIRECTORY, AcmeKeys.EAB_KEY_ID, AcmeKeys.EAB_KEY_FILE)
                .stream()
                .filter(key -> key.path().equals(path))
                .findFirst()
                .orElse(null);
    }
}
