package io.millrace.launcher.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;

/**
 * A self-signed certificate for localhost, made by the JDK's keytool.
 *
 * @param certificate {@code CERTIFICATE.pem}
 * @param key {@code PRIVATE-KEY.pem} in PKCS#8
 */
record TestKeys(Path certificate, Path key) {
    private static final char[] PASSWORD = "changeit".toCharArray();

    /** Writes the files to an empty directory. */
    static TestKeys write(Path directory) throws Exception {
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
                pem(directory, "CERTIFICATE", store.getCertificate("test").getEncoded()),
                pem(directory, "PRIVATE KEY", store.getKey("test", PASSWORD).getEncoded()));
    }

    private static Path pem(Path directory, String what, byte[] content) throws IOException {
        String text = "-----BEGIN " + what + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content) + "\n-----END " + what
                + "-----\n";
        return Files.writeString(directory.resolve(what.replace(' ', '-') + ".pem"), text);
    }
}
