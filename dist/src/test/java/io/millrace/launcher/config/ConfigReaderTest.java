package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.ProxyConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigReaderTest {
    @TempDir
    Path directory;

    @Test
    void servesOneOriginWithoutAFile() throws LaunchException {
        ProxyConfig config = read(options("http://127.0.0.1:9000", List.of(":8081", "[::1]:8082"), null, Map.of()));

        assertEquals(2, config.listeners().size());
        assertEquals(8082, config.listeners().get(1).address().port());
        assertEquals("http://127.0.0.1:9000/", config.remap().get(0).to().toString());
    }

    @Test
    void listensOnPort8080ByDefault() throws LaunchException {
        ProxyConfig config = read(options("http://127.0.0.1:9000", List.of(), null, Map.of()));

        assertEquals(8080, config.listeners().get(0).address().port());
    }

    @Test
    void givesTheWorkerATextThatMeansTheSame() throws LaunchException {
        LaunchOptions options =
                options("http://127.0.0.1:9000", List.of(":8081"), null, Map.of("cache.ram_size", "64MiB"));
        ConfigReader.Reading reading = ConfigReader.of(options, null).read();

        assertEquals(reading.result().config(), reading.source().load().config());
    }

    @Test
    void namesTheOptionThatIsWrong() throws LaunchException {
        ConfigReader.Reading reading = ConfigReader.of(options("ftp://x", List.of("nowhere"), null, Map.of()), null)
                .read();

        assertNull(reading.result().config());
        assertTrue(reading.result().text().contains("--listen: "), reading.result()::text);
        assertTrue(reading.result().text().contains("--origin: "), reading.result()::text);
    }

    @Test
    void listensOnTheOptionsAddressInPlaceOfTheFiles() throws IOException, LaunchException {
        ProxyConfig config = read(options(null, List.of("127.0.0.1:8081"), file(), Map.of()));

        assertEquals(1, config.listeners().size());
        assertEquals("127.0.0.1:8081", config.listeners().get(0).address().toString());
    }

    @Test
    void readsRelativePathsFromTheFilesDirectory() throws IOException, LaunchException {
        ConfigReader.Reading reading = ConfigReader.of(options(null, List.of(), file(), Map.of()), null)
                .read();
        ProxyConfig config = reading.source().load().config();

        assertNotNull(config);
        assertEquals(directory.resolve("volume"), config.storage().get(0).path());
        assertEquals(reading.result().config(), config);
    }

    @Test
    void saysWhyAFileCannotBeRead() throws LaunchException {
        ConfigReader.Reading reading = ConfigReader.of(
                        options(null, List.of(), directory.resolve("missing.yaml"), Map.of()), null)
                .read();

        assertTrue(reading.result().text().contains("missing.yaml: no such file"), reading.result()::text);
    }

    private Path file() throws IOException {
        return Files.writeString(directory.resolve("millrace.yaml"), """
                listen: [":80", ":81"]
                remap: [{map: /, to: "http://127.0.0.1:9000"}]
                storage: [{path: volume, size: 128MiB}]
                """);
    }

    private static ProxyConfig read(LaunchOptions options) throws LaunchException {
        ConfigReader.Reading reading = ConfigReader.of(options, null).read();
        ProxyConfig config = reading.result().config();
        assertNotNull(config, reading.result()::text);
        return config;
    }

    private static LaunchOptions options(String origin, List<String> listen, Path file, Map<String, String> set) {
        return new LaunchOptions(false, origin, listen, file, null, set, null);
    }
}
