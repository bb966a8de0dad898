package io.millrace.proxy.extension.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.extension.ExtensionSettings;
import io.millrace.proxy.config.key.ConfigTree;
import io.millrace.proxy.config.key.ExtensionJar;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the loading of extensions from jars. */
final class ExtensionLoaderTest {
    @TempDir
    private Path directory;

    private static ExtensionSettings settings(Path jar, String className) throws Exception {
        ExtensionJar file = jar == null ? null : ExtensionJar.unread(jar).readBelow(jar.getParent());
        return new ExtensionSettings(
                "ext", file, className, null, Duration.ofSeconds(5), ConfigTree.EMPTY, "millrace.yaml:7:3");
    }

    private static String failure(ExtensionSettings settings) {
        return assertThrows(IOException.class, () -> new ExtensionLoader().load(settings))
                .getMessage();
    }

    @Test
    void loadsTheOnlyExtensionOfAJar() throws Exception {
        Path jar = ExtensionJars.one(directory.resolve("a.jar"), "Plain", ExtensionJars.PLAIN.formatted("Plain"));
        try (ExtensionCode code = new ExtensionLoader().load(settings(jar, null))) {
            assertEquals("plain", code.extension().name());
            assertEquals("Plain", code.extension().getClass().getName());
            assertEquals(
                    "extension-ext",
                    code.extension().getClass().getClassLoader().getName());
        }
    }

    @Test
    void loadsTheClassThatTheConfigurationNames() throws Exception {
        Path jar = ExtensionJars.write(
                directory.resolve("two.jar"),
                List.of("One", "Two"),
                Map.of(
                        "One", ExtensionJars.PLAIN.formatted("One"),
                        "Two", ExtensionJars.PLAIN.formatted("Two")));
        try (ExtensionCode code = new ExtensionLoader().load(settings(jar, "Two"))) {
            assertEquals("Two", code.extension().getClass().getName());
        }
        String message = failure(settings(jar, null));
        assertTrue(message.startsWith("millrace.yaml:7:3: extension ext: "), message);
        assertTrue(message.endsWith("names 2 extensions, expected one; choose one by class"), message);
        assertTrue(failure(settings(jar, "Three")).endsWith("has no class Three"));
    }

    /** An extension of the application, as an embedder writes it. */
    public static final class OfApplication implements Extension {
        @Override
        public int apiVersion() {
            return Extension.API_VERSION;
        }

        @Override
        public String name() {
            return "of-application";
        }

        @Override
        public void open(ExtensionContext context) {}
    }

    @Test
    void loadsAClassOfTheApplication() throws Exception {
        try (ExtensionCode code = new ExtensionLoader().load(settings(null, OfApplication.class.getName()))) {
            assertEquals("of-application", code.extension().name());
        }
        assertTrue(failure(settings(null, null)).contains("has neither jar nor class"));
        assertTrue(failure(settings(null, "java.lang.Object"))
                .endsWith("java.lang.Object does not implement io.millrace.proxy.spi.Extension"));
    }

    @Test
    void refusesAnotherVersionOfTheInterface() throws Exception {
        String source = ExtensionJars.PLAIN.formatted("Old").replace("return Extension.API_VERSION", "return 99");
        String message = failure(settings(ExtensionJars.one(directory.resolve("a.jar"), "Old", source), null));
        assertTrue(message.contains("was compiled for version 99 of the interface"), message);
        assertTrue(message.contains("has version " + Extension.API_VERSION), message);
    }

    @Test
    void namesTheExceptionOfAConstructor() throws Exception {
        String source = ExtensionJars.PLAIN
                .formatted("Broken")
                .replace(
                        "{\n    @Override public int",
                        "{\n    public Broken() { throw new IllegalStateException(\"no luck\"); }\n    @Override public int");
        Path jar = ExtensionJars.one(directory.resolve("a.jar"), "Broken", source);
        assertTrue(failure(settings(jar, null)).endsWith("java.lang.IllegalStateException: no luck"));
        assertTrue(failure(settings(jar, "Broken")).endsWith("java.lang.IllegalStateException: no luck"));
    }

    /** The classes of the proxy and its libraries are hidden, so that an extension can have other versions of them. */
    @Test
    void seesOnlyTheInterfaceTheJdkAndItsOwnJar() throws Exception {
        String source = """
                import io.millrace.proxy.spi.*;
                public final class Looks implements Extension {
                    @Override public int apiVersion() { return Extension.API_VERSION; }
                    @Override public String name() {
                        return has("io.netty.buffer.ByteBuf") + " " + has("io.millrace.proxy.ProxyServer") + " "
                                + has("org.slf4j.Logger") + " " + has("io.millrace.proxy.spi.DeliverHook") + " "
                                + has("java.sql.Connection") + " " + text();
                    }
                    private static boolean has(String name) {
                        try {
                            Class.forName(name);
                            return true;
                        } catch (ClassNotFoundException e) {
                            return false;
                        }
                    }
                    private static String text() {
                        try (java.io.InputStream in = Looks.class.getResourceAsStream("/some/text")) {
                            return new String(in.readAllBytes());
                        } catch (java.io.IOException e) {
                            return e.toString();
                        }
                    }
                    @Override public void open(ExtensionContext context) {}
                }
                """;
        Path jar = ExtensionJars.write(
                directory.resolve("a.jar"), List.of("Looks"), Map.of("Looks", source), Map.of("some/text", "here"));
        try (ExtensionCode code = new ExtensionLoader().load(settings(jar, null))) {
            assertEquals("false false false true true here", code.extension().name());
        }
    }

    @Test
    void extensionsWithEqualClassNamesAreSeparate() throws Exception {
        Path jar = ExtensionJars.one(directory.resolve("a.jar"), "Plain", ExtensionJars.PLAIN.formatted("Plain"));
        ExtensionLoader loader = new ExtensionLoader();
        try (ExtensionCode one = loader.load(settings(jar, null));
                ExtensionCode other = loader.load(settings(jar, null))) {
            assertNotSame(one.extension().getClass(), other.extension().getClass());
        }
    }

    /** A class that is needed later comes from the private copy, although the file was overwritten in place. */
    @Test
    void aChangeOfTheFileHasNoEffectOnALoadedExtension() throws Exception {
        String source = ExtensionJars.PLAIN.formatted("Plain").replace("\"plain\"", "Later.text()");
        Path jar = ExtensionJars.write(
                directory.resolve("a.jar"),
                List.of("Plain"),
                Map.of("Plain", source, "Later", "final class Later { static String text() { return \"later\"; } }"));
        ExtensionSettings settings = settings(jar, null);
        try (ExtensionCode code = new ExtensionLoader().load(settings)) {
            Files.write(jar, new byte[100]);
            assertEquals("later", code.extension().name());
        }
        assertTrue(
                failure(settings).endsWith("has changed since the configuration was read; reload the configuration"));
    }

    @Test
    void leavesNoCopyBehind() throws Exception {
        Path jar = ExtensionJars.one(directory.resolve("a.jar"), "Plain", ExtensionJars.PLAIN.formatted("Plain"));
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        ExtensionSettings unlike = new ExtensionSettings(
                "only-in-this-test",
                settings(jar, null).jar(),
                null,
                null,
                Duration.ofSeconds(5),
                ConfigTree.EMPTY,
                "");
        try (ExtensionCode code = new ExtensionLoader().load(unlike)) {
            assertNotNull(code.extension());
            try (Stream<Path> files = Files.list(temporary)) {
                assertEquals(
                        List.of(),
                        files.filter(file -> file.getFileName().toString().contains("only-in-this-test"))
                                .toList());
            }
        }
    }
}
