package io.millrace.cli.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/**
 * A self-signed certificate for localhost, made by the JDK's keytool.
 *
 * @param store the key store with certificate and key
 * @param certificate PEM file
 * @param key PEM file in PKCS#8
 */
public record TestKeys(KeyStore store, Path certificate, Path key) {
    private static final char[] PASSWORD = "changeit".toCharArray();

    /** Makes a certificate in an empty directory. */
    public static TestKeys in(Path directory) throws Exception {
        Path file = directory.resolve("test.p12");
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        Process made = new ProcessBuilder(
                        keytool,
                        "-genkeypair",
                        "-alias",
                        "test",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=dns:localhost,ip:127.0.0.1",
                        "-validity",
                        "3650",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        "changeit")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("keytool.log").toFile())
                .start();
        if (made.waitFor() != 0) {
            throw new IOException(Files.readString(directory.resolve("keytool.log")));
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD);
        }
        return new TestKeys(
                store,
                pem(directory, "CERTIFICATE", store.getCertificate("test").getEncoded()),
                pem(directory, "PRIVATE KEY", store.getKey("test", PASSWORD).getEncoded()));
    }

    private static Path pem(Path directory, String what, byte[] content) throws IOException {
        String text = "-----BEGIN " + what + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content) + "\n-----END " + what
                + "-----\n";
        return Files.writeString(directory.resolve(what.replace(' ', '-') + ".pem"), text);
    }

    /** Returns the context of a server with this certificate, which trusts clients that have another one. */
    public SSLContext server(TestKeys client) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD);
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("client", client.store().getCertificate("test"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        TrustManager[] managers = trust.getTrustManagers();
        context.init(keys.getKeyManagers(), managers, null);
        return context;
    }
}
