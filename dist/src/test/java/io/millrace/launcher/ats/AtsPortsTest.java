package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.launcher.importing.source.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the imported listening addresses and their certificates. */
final class AtsPortsTest extends AtsFixture {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "8080 8080:ipv6|:8080",
                "8080|0.0.0.0:8080",
                "8080:ipv6|[::]:8080",
                "80:ip-in=192.0.2.1|192.0.2.1:80",
                "ip-in=[2001:db8::1]:80|[2001:db8::1]:80",
                "80:ipv6:ip-in=[2001:db8::1]|[2001:db8::1]:80"
            })
    void portsBecomeAddresses(String ports, String address) {
        samples.file("records.config", "CONFIG proxy.config.http.server_ports STRING " + ports);
        assertHas("- address: '" + address + "'");
        assertEquals(1, samples.yaml().split("- address", -1).length - 1);
    }

    @Test
    void aUnixSocketKeepsModeAndOwner() {
        samples.file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING"
                        + " /run/ats.sock:uds-perm=660:uds-user=ats:uds-group=www /run/b.sock");
        assertHas("- address: unix:/run/ats.sock");
        assertHas("socket_mode: 0660");
        assertHas("socket_owner: ats:www");
        assertHas("- address: unix:/run/b.sock");
        assertHas("socket_mode: 0666");
    }

    @Test
    void portAndAddressOfOldVersionsAreOneAddress() {
        samples.file(
                "records.config",
                "CONFIG proxy.config.http.server_port INT 80",
                "LOCAL proxy.local.incoming_ip_to_bind STRING 192.0.2.1");
        assertHas("- address: '192.0.2.1:80'");
        assertOutcome(Outcome.MAPPED, "records.config", 2, "listen[0]");
    }

    @Test
    void portForTlsHasTheCertificate() throws IOException {
        Files.writeString(directory.resolve("site.pem"), "");
        Files.writeString(directory.resolve("site.key"), "");
        samples.file("records.config", "CONFIG proxy.config.http.server_ports STRING 443:ssl");
        samples.file(
                "ssl_multicert.config",
                "dest_ip=* ssl_cert_name=site.pem ssl_key_name=site.key",
                "ssl_cert_name=x.pem");
        assertHas("certificate: " + directory.resolve("site.pem"));
        assertHas("key: " + directory.resolve("site.key"));
        assertHas("- certificate: " + directory.resolve("x.pem"));
        assertHas("enabled: true");
    }

    @Test
    void portForTlsWithoutCertificateIsNotOpenedInClear() {
        samples.file("records.config", "CONFIG proxy.config.http.server_ports STRING 80 443:ssl");
        assertHas(":80'");
        assertLacks(":443'");
        assertOutcome(Outcome.NOT_MAPPED, "records.config", 1, "no certificate is set");
    }
}
