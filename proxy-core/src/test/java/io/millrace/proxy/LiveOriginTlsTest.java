package io.millrace.proxy;

import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import io.millrace.proxy.tls.TlsOrigin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests live changes of TLS to origins: global, in rules, and for a group, and for copies. */
class LiveOriginTlsTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("origins");
    private static final TestAuthority OTHER = new TestAuthority("others");
    private static final Made SERVER = AUTHORITY.issue("origin.localhost", "test.example", "one.example");

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    Path directory;

    private TlsOrigin origin;

    @BeforeEach
    void writeFiles() throws Exception {
        Files.writeString(
                directory.resolve("ca.pem"),
                TestAuthority.pem("CERTIFICATE", AUTHORITY.root().getEncoded()));
        Files.writeString(
                directory.resolve("other.pem"),
                TestAuthority.pem("CERTIFICATE", OTHER.root().getEncoded()));
        for (String name : new String[] {"one", "two"}) {
            Made client = AUTHORITY.issue(name);
            client.write(directory, name);
            Files.writeString(directory.resolve(name + ".pem"), client.chainPem() + client.keyPem());
        }
        origin = new TlsOrigin(AUTHORITY, SERVER);
    }

    @AfterEach
    void close() throws IOException {
        origin.close();
    }

    private LiveProxy general(String tls, String rest) {
        return live.in(directory)
                .file("origin: {tls: {" + tls + "}}\n" + rest + "\nremap: [{map: /, to: 'https://origin.localhost:"
                        + origin.port() + "/'}]");
    }

    private LiveProxy general(String tls) {
        return general(tls, "pristine_host_hdr: true");
    }

    private LiveProxy group(String tls, String rest) {
        return live.in(directory)
                .file("origin: {tls: {ca_file: ca.pem}}\norigins: [{name: shop, hosts: ['https://origin.localhost:"
                        + origin.port() + "'], retry: {tries: 1}, markdown: {fail_threshold: 0}, tls: {" + tls + "}}]\n"
                        + rest + "\nremap: [{map: /, to: 'http://shop.internal/', origins: shop}]");
    }

    private LiveProxy group(String tls) {
        return group(tls, "pristine_host_hdr: true");
    }

    /** Returns the origin's report about the connection; the status of the response if there was none. */
    private String seen() throws IOException {
        RawClient.Response response = live.get(live.fresh());
        return response.status() == 200 ? response.text() : String.valueOf(response.status());
    }

    private String part(String name) throws IOException {
        for (String each : seen().split(" ", -1)) {
            if (each.startsWith(name + "=")) {
                return each.substring(name.length() + 1);
            }
        }
        return "502";
    }

    private int status() throws IOException {
        return live.status(live.fresh());
    }

    @LiveKey("origin.tls.ca_file")
    void authorities() throws Exception {
        general("ca_file: <other|ca>.pem").turns(502, 200, this::status);
    }

    @LiveKey("origin.tls.verify")
    void verify() throws Exception {
        general("verify: <on|off>").turns(502, 200, this::status);
    }

    @LiveKey("origin.tls.certificate")
    void certificate() throws Exception {
        general("ca_file: ca.pem, certificate: <one|two>.pem").turns("CN=one", "CN=two", () -> part("client"));
    }

    /** The first version of the pair does not match, so the connection fails. */
    @LiveKey("origin.tls.key")
    void key() throws Exception {
        general("ca_file: ca.pem, certificate: one.crt, key: <two|one>.key")
                .turns("502", "CN=one", () -> part("client"));
    }

    @LiveKey("origin.tls.sni")
    void sni() throws Exception {
        general("ca_file: ca.pem, sni: <origin|host>").turns("origin.localhost", "test.example", () -> part("sni"));
    }

    @LiveKey("origin.tls.name")
    void name() throws Exception {
        general("ca_file: ca.pem, name: <wrong|one>.example").turns("502", "one.example", () -> part("sni"));
    }

    @LiveKey("origin.tls.min_version")
    void minVersion() throws Exception {
        origin.close();
        origin = new TlsOrigin(AUTHORITY, SERVER, "TLSv1.2");
        general("ca_file: ca.pem, min_version: TLSv1.<3|2>").turns("502", "TLSv1.2", () -> part("version"));
    }

    // Copies of requests, whose origin the client does not see

    private LiveProxy mirror(String tls, String general) {
        return live.in(directory)
                .file("mirror: {to: 'https://origin.localhost:" + origin.port() + "', tls: {" + tls
                        + "}}\norigin: {tls: {" + general + "}}\npristine_host_hdr: true");
    }

    /** Returns a part of the other origin's report about the connection of a copy; "failed" if there was none. */
    private String copied(String name) throws IOException {
        ProxyExtension proxy = live.proxy();
        long sent = proxy.counted(Counter.MIRRORED_SENT);
        long failed = proxy.counted(Counter.MIRRORED_FAILED);
        live.get(live.fresh());
        ProxyExtension.await(
                "the copy",
                () -> proxy.counted(Counter.MIRRORED_SENT) + proxy.counted(Counter.MIRRORED_FAILED) > sent + failed);
        if (proxy.counted(Counter.MIRRORED_FAILED) > failed) {
            return "failed";
        }
        return origin.report().replaceAll("(^|.* )" + name + "=([^ ]*).*", "$2");
    }

    @LiveKey("mirror.tls.ca_file")
    void mirrorAuthorities() throws Exception {
        mirror("ca_file: <other|ca>.pem", "ca_file: ca.pem").turns("failed", "none", () -> copied("client"));
    }

    @LiveKey("mirror.tls.verify")
    void mirrorVerify() throws Exception {
        mirror("verify: <on|off>", "").turns("failed", "none", () -> copied("client"));
    }

    @LiveKey("mirror.tls.certificate")
    void mirrorCertificate() throws Exception {
        mirror("certificate: <one|two>.pem", "ca_file: ca.pem").turns("CN=one", "CN=two", () -> copied("client"));
    }

    @LiveKey("mirror.tls.key")
    void mirrorKey() throws Exception {
        mirror("certificate: one.crt, key: <two|one>.key", "ca_file: ca.pem")
                .turns("failed", "CN=one", () -> copied("client"));
    }

    @LiveKey("mirror.tls.sni")
    void mirrorSni() throws Exception {
        mirror("sni: <origin|host>", "ca_file: ca.pem").turns("origin.localhost", "test.example", () -> copied("sni"));
    }

    @LiveKey("mirror.tls.name")
    void mirrorName() throws Exception {
        mirror("name: <wrong|one>.example", "ca_file: ca.pem").turns("failed", "one.example", () -> copied("sni"));
    }

    @LiveKey("mirror.tls.min_version")
    void mirrorMinVersion() throws Exception {
        origin.close();
        origin = new TlsOrigin(AUTHORITY, SERVER, "TLSv1.2");
        mirror("min_version: TLSv1.<3|2>", "ca_file: ca.pem").turns("failed", "TLSv1.2", () -> copied("version"));
    }

    @LiveKey("origins[].tls.ca_file")
    void groupAuthorities() throws Exception {
        group("ca_file: <other|ca>.pem").turns(502, 200, this::status);
    }

    @LiveKey("origins[].tls.verify")
    void groupVerify() throws Exception {
        group("ca_file: other.pem, verify: <on|off>").turns(502, 200, this::status);
    }

    @LiveKey("origins[].tls.certificate")
    void groupCertificate() throws Exception {
        group("certificate: <one|two>.pem").turns("CN=one", "CN=two", () -> part("client"));
    }

    @LiveKey("origins[].tls.key")
    void groupKey() throws Exception {
        group("certificate: one.crt, key: <two|one>.key").turns("502", "CN=one", () -> part("client"));
    }

    @LiveKey("origins[].tls.sni")
    void groupSni() throws Exception {
        group("sni: <origin|host>").turns("origin.localhost", "test.example", () -> part("sni"));
    }

    @LiveKey("origins[].tls.name")
    void groupName() throws Exception {
        group("name: <wrong|one>.example").turns("502", "one.example", () -> part("sni"));
    }

    @LiveKey("origins[].tls.min_version")
    void groupMinVersion() throws Exception {
        origin.close();
        origin = new TlsOrigin(AUTHORITY, SERVER, "TLSv1.2");
        group("min_version: TLSv1.<3|2>").turns("502", "TLSv1.2", () -> part("version"));
    }
}
