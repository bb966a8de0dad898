package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the settings of a certificate's names that operators see, each with its source. */
class SettingsInForceTest {
    private static final String FILE = """
            listen:
              - {address: "127.0.0.1:1", tls: {}}
              - {address: "127.0.0.1:2", http2: false, tls: {client_certificates: request, hsts: {max_age: 2m}}}
              - {address: "127.0.0.1:3", tls: {certificate: own.pem, key: own.key, min_version: TLSv1.3}}
              - "127.0.0.1:4"
            tls:
              client_ca_file: ca.pem
              client_revocation_file: all.crl
              hsts: {max_age: 1m, include_subdomains: true}
              certificates:
                - {certificate: plain.pem}
                - {certificate: own-settings.pem, max_version: TLSv1.2, http2: false, hsts: {max_age: 0s}, ocsp_stapling: false}
                - {certificate: other.pem, client_certificates: require, client_ca_file: other-ca.pem}
            remap: [{map: /, to: "http://o/"}]
            """;

    @TempDir
    Path directory;

    @BeforeEach
    void writeFiles() throws IOException {
        Files.writeString(directory.resolve("own.pem"), "");
        Files.writeString(directory.resolve("own.key"), "");
    }

    private List<String> inForce(int element, String own, String name) {
        ConfigResult result = ConfigLoader.parse(FILE, "millrace.yaml", directory, Map.of());
        assertTrue(result.config() != null, result::text);
        List<String> found = new ArrayList<>();
        for (TlsSettingsInForce.Setting each :
                TlsSettingsInForce.of(result.config(), element, own == null ? null : directory.resolve(own))) {
            if (each.name().equals(name)) {
                found.add(each.value() + " " + each.source() + (each.address() == null ? "" : " " + each.address()));
            }
        }
        return found;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "0 | - | min_version | TLSv1.2 default",
                "0 | - | client_certificates | off default 127.0.0.1:1, request listen[1].tls 127.0.0.1:2",
                "0 | - | client_ca_file | /etc/ca.pem tls",
                "0 | - | hsts.max_age | 1m tls 127.0.0.1:1, 2m listen[1].tls 127.0.0.1:2",
                "0 | - | hsts.include_subdomains | true tls 127.0.0.1:1",
                "0 | - | http2 | true default 127.0.0.1:1, false listen[1] 127.0.0.1:2",
                "0 | - | ocsp_stapling | true default",
                "0 | - | ciphers | ''",
                "1 | - | max_version | TLSv1.2 tls.certificates[1]",
                "1 | - | http2 | false tls.certificates[1] 127.0.0.1:1, false listen[1] 127.0.0.1:2",
                "1 | - | hsts.max_age | 0 tls.certificates[1]",
                "1 | - | hsts.include_subdomains | ''",
                "1 | - | ocsp_stapling | false tls.certificates[1]",
                "2 | - | client_certificates | require tls.certificates[2]",
                "2 | - | client_ca_file | /etc/other-ca.pem tls.certificates[2]",
                "2 | - | client_revocation_file | ''",
                "9 | - | max_version | TLSv1.3 default",
                "-1 | own.pem | min_version | TLSv1.3 listen[2].tls",
                "-1 | own.pem | client_certificates | off default"
            })
    void everySettingNamesItsSource(int element, String own, String name, String expected) {
        assertEquals(expected, String.join(", ", inForce(element, own, name)).replace(directory + "/", "/etc/"));
    }
}
