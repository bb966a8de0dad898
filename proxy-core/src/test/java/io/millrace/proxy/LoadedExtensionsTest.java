package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.extension.load.ExtensionJars;
import io.millrace.proxy.spi.DeliverHook;
import io.millrace.proxy.spi.DeliveredResponse;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.RequestView;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a proxy whose configuration names jars of extensions. */
class LoadedExtensionsTest {
    @TempDir
    private Path directory;

    private ProxyConfig config(String extensions, RawOrigin origin) {
        String text = "listen: ['127.0.0.1:0']\nworker: {event_loops: 1}\nlog: {access: {enabled: false}}\n"
                + "remap: [{map: /, to: '" + (origin == null ? "http://127.0.0.1:9" : origin.url()) + "'}]\n"
                + "extensions: " + extensions + "\n";
        ConfigResult result = ConfigLoader.parse(text, "m.yaml", directory, Map.of());
        assertNotNull(result.config(), result::text);
        return result.config();
    }

    private static HttpResponse<String> get(ProxyServer proxy) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + proxy.addresses().get(0).getPort() + "/");
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static RawOrigin origin() throws IOException {
        return new RawOrigin(request -> request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("content")));
    }

    @Test
    void theHooksOfAJarAreCalledForMissesAndHits() throws Exception {
        ExtensionJars.one(directory.resolve("mark.jar"), "Mark", ExtensionJars.MARK);
        try (RawOrigin origin = origin();
                ProxyServer proxy = ProxyServer.builder()
                        .config(config("[{name: m, jar: mark.jar, config: {mark: here}}]", origin))
                        .start()) {
            assertEquals("here", get(proxy).headers().firstValue("X-Mark").orElse(""));
            HttpResponse<String> hit = get(proxy);
            assertEquals("here", hit.headers().firstValue("X-Mark").orElse(""));
            assertTrue(hit.headers().firstValue("Cache-Status").orElse("").contains("hit"), hit.headers()::toString);
        }
    }

    /** The first Java block of the guide is compiled and loaded with the first YAML block, a whole configuration. */
    @Test
    void theExtensionOfTheGuideWorks() throws Exception {
        String page = Files.readString(Path.of("..", "docs", "guide", "extensions.md"));
        ExtensionJars.one(directory.resolve("hello.jar"), "Hello", block(page, "java"));
        String yaml = block(page, "yaml");
        assertTrue(yaml.contains("\"127.0.0.1:8080\"") && yaml.contains("http://127.0.0.1:9000/"), yaml);
        try (RawOrigin origin = origin()) {
            String used = yaml.replace("127.0.0.1:8080", "127.0.0.1:0").replace("http://127.0.0.1:9000/", origin.url())
                    + "worker: {event_loops: 1}\nlog: {access: {enabled: false}}\n";
            ConfigResult result = ConfigLoader.parse(used, "millrace.yaml", directory, Map.of());
            assertNotNull(result.config(), result::text);
            assertGreeting(result.config());
        }
    }

    private static void assertGreeting(ProxyConfig config) throws Exception {
        try (ProxyServer proxy = ProxyServer.builder().config(config).start()) {
            assertEquals(
                    "good morning",
                    get(proxy).headers().firstValue("X-Greeting").orElse(""));
        }
    }

    private static String block(String page, String language) {
        String start = "```" + language + "\n";
        int begin = page.indexOf(start) + start.length();
        return page.substring(begin, page.indexOf("```", begin));
    }

    @Test
    void aFaultOfTheConfigurationHasItsPlace() throws Exception {
        ExtensionJars.one(directory.resolve("mark.jar"), "Mark", ExtensionJars.MARK);
        assertEquals(
                "m.yaml:5:54: extension m: config.mark: has no word",
                failure("[{name: m, jar: mark.jar, config: {mark: ' '}}]"));
        assertEquals(
                "m.yaml:5:47: extension m: config.mark: missing; it takes a text",
                failure("[{name: m, jar: mark.jar, config: {}}]"));
        assertEquals(
                "m.yaml:5:63: extension m: config.marc: unknown key (did you mean mark?)",
                failure("[{name: m, jar: mark.jar, config: {mark: a, marc: b}}]"));
    }

    @Test
    void theStartFailsWithTheReasonOfTheExtension() throws Exception {
        String throwing = ExtensionJars.PLAIN
                .formatted("Plain")
                .replace("throws Exception {}", "throws Exception { throw new java.io.IOException(\"no service\"); }");
        ExtensionJars.one(directory.resolve("a.jar"), "Plain", throwing);
        String message = failure("[{name: a, jar: a.jar}]");
        assertTrue(message.contains("extension a"), message);
        assertTrue(message.endsWith("java.io.IOException: no service"), message);
        assertTrue(failure("[{name: a}]").startsWith("m.yaml:5:14: extension a: has neither jar nor class"));
    }

    private String failure(String extensions) {
        return assertThrows(IOException.class, () -> ProxyServer.builder()
                        .config(config(extensions, null))
                        .build()
                        .close())
                .getMessage();
    }

    /** An extension of an embedding application. */
    private static final class Own implements Extension, DeliverHook {
        private String word = "";
        private boolean closed;

        @Override
        public int apiVersion() {
            return Extension.API_VERSION;
        }

        @Override
        public String name() {
            return "own";
        }

        @Override
        public void open(ExtensionContext context) throws Exception {
            word = context.config().text("word", "none");
        }

        @Override
        public void deliver(RequestView request, DeliveredResponse response) {
            response.fields().add("X-Mark", word);
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    @Test
    void anObjectOfTheApplicationGetsTheSettingsOfItsName() throws Exception {
        ExtensionJars.one(directory.resolve("mark.jar"), "Mark", ExtensionJars.MARK);
        Own own = new Own();
        try (RawOrigin origin = origin()) {
            ProxyConfig config = config(
                    "[{name: own, config: {word: first}}, {name: m, jar: mark.jar, config: {mark: second}}]", origin);
            try (ProxyServer proxy =
                    ProxyServer.builder().config(config).extension(own).start()) {
                assertEquals("second", get(proxy).headers().firstValue("X-Mark").orElse(""), "set after add");
                assertFalse(own.closed);
            }
            assertTrue(own.closed);
            try (ProxyServer proxy = ProxyServer.builder()
                    .config(config("[{name: m, jar: mark.jar, config: {mark: second}}]", origin))
                    .extension(new Own())
                    .start()) {
                assertEquals(List.of("second", "none"), get(proxy).headers().allValues("X-Mark"), "objects last");
            }
        }
    }

    @Test
    void theAdminApiListsExtensionsWithTheirFigures() throws Exception {
        String source = ExtensionJars.MARK.replace(
                "response.fields().set(\"X-Mark\", mark)", "throw new IllegalStateException(\"no mark\")");
        Path jar = ExtensionJars.one(directory.resolve("mark.jar"), "Mark", source);
        Path socket = directory.resolve("admin.sock");
        try (RawOrigin origin = origin();
                ProxyServer proxy = ProxyServer.builder()
                        .config(config("[{name: m, jar: mark.jar, config: {mark: here}}]", origin))
                        .adminSocket(socket)
                        .start()) {
            assertEquals(200, get(proxy).statusCode());
            String text = admin(socket);
            assertTrue(text.contains("\"name\":\"m\",\"version\":\"1.2\",\"note\":\"\",\"jar\":\"" + jar + "\""), text);
            assertTrue(text.contains("\"class\":\"Mark\",\"state\":\"active\",\"calls\":1,\"failures\":1"), text);
            assertTrue(text.contains("java.lang.IllegalStateException: no mark"), text);
            assertTrue(text.contains("{\"name\":\"deliver\",\"calls\":1,\"failures\":1,\"nanos\":"), text);
        }
    }

    private static String admin(Path socket) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
            channel.write(ByteBuffer.wrap(
                    RawInput.latin1("GET /v1/extensions HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")));
            StringBuilder text = new StringBuilder();
            ByteBuffer buffer = ByteBuffer.allocate(65_536);
            while (channel.read(buffer) >= 0) {
                buffer.flip();
                text.append(StandardCharsets.UTF_8.decode(buffer));
                buffer.clear();
            }
            return text.toString();
        }
    }
}
