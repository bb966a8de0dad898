package io.millrace.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A self-signed certificate with its key, made by the JDK's keytool.
 *
 * @param store the key store with certificate and key
 * @param certificate {@code CERTIFICATE.pem}
 * @param key {@code PRIVATE-KEY.pem} in PKCS#8
 */
public record TestKeys(KeyStore store, Path certificate, Path key) {
    private static final String PASSWORD = "changeit";

    /** Makes a certificate for {@code localhost} in an empty directory. */
    public static TestKeys ofLocalhost(Path directory) throws Exception {
        return in(directory, "localhost", "dns:localhost,ip:127.0.0.1");
    }

    /** Makes a certificate with subject alternative names in the form of keytool in an empty directory. */
    public static TestKeys in(Path directory, String name, String alternativeNames) throws Exception {
        Path file = directory.resolve("test.p12");
        Path log = directory.resolve("keytool.log");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of("-genkeypair", "-alias", "test", "-keyalg", "EC", "-validity", "3650"));
        command.addAll(List.of("-storetype", "PKCS12", "-storepass", PASSWORD, "-keystore", file.toString()));
        command.addAll(List.of("-dname", "CN=" + name, "-ext", "san=" + alternativeNames));
        Process made = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (made.waitFor() != 0) {
            throw new IOException(Files.readString(log));
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return new TestKeys(
                store,
                pem(directory, "CERTIFICATE", store.getCertificate("test").getEncoded()),
                pem(
                        directory,
                        "PRIVATE KEY",
                        store.getKey("test", PASSWORD.toCharArray()).getEncoded()));
    }

    private static Path pem(Path directory, String label, byte[] content) throws IOException {
        String text = "-----BEGIN " + label + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content) + "\n-----END " + label
                + "-----\n";
        return Files.writeString(directory.resolve(label.replace(' ', '-') + ".pem"), text);
    }

    /** Returns the context of a server with this certificate. */
    public SSLContext server() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keyManagers().getKeyManagers(), null, null);
        return context;
    }

    /** Returns the context of a server with this certificate, which trusts clients that have another one. */
    public SSLContext server(TestKeys client) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keyManagers().getKeyManagers(), client.trustManagers().getTrustManagers(), null);
        return context;
    }

    /** Returns the context of a client that trusts this certificate only. */
    public SSLContext client() throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trustManagers().getTrustManagers(), null);
        return context;
    }

    private KeyManagerFactory keyManagers() throws GeneralSecurityException {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD.toCharArray());
        return keys;
    }

    private TrustManagerFactory trustManagers() throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("test", store.getCertificate("test"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        return trust;
    }
}
