package io.millrace.proxy.extension.load;

import io.millrace.proxy.spi.Extension;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Builds jars of extensions from source text. Thread-safe: stateless. */
public final class ExtensionJars {
    /** The source of an extension without hooks; %s is its name. */
    public static final String PLAIN = """
            import io.millrace.proxy.spi.*;
            public final class %s implements Extension {
                @Override public int apiVersion() { return Extension.API_VERSION; }
                @Override public String name() { return "plain"; }
                @Override public void open(ExtensionContext context) throws Exception {}
            }
            """;

    /** The source of an extension that adds a field with the text of its key {@code mark} to every response. */
    public static final String MARK = """
            import io.millrace.proxy.spi.*;
            public final class Mark implements Extension, DeliverHook {
                private String mark = "";
                @Override public int apiVersion() { return Extension.API_VERSION; }
                @Override public String name() { return "mark"; }
                @Override public String version() { return "1.2"; }
                @Override public void open(ExtensionContext context) throws ExtensionConfigException {
                    mark = context.config().text("mark");
                    if (mark.isBlank()) {
                        throw context.config().problem("mark", "has no word");
                    }
                    context.config().rejectOtherKeys();
                }
                @Override public void deliver(RequestView request, DeliveredResponse response) {
                    response.fields().set("X-Mark", mark);
                }
            }
            """;

    private ExtensionJars() {}

    /**
     * Compiles classes of the package without a name, and writes them to a jar.
     *
     * @param services names of the classes in META-INF/services
     * @param sources texts of classes by name
     */
    public static Path write(Path jar, List<String> services, Map<String, String> sources) throws IOException {
        return write(jar, services, sources, Map.of());
    }

    /**
     * As {@link #write(Path, List, Map)}, with further entries.
     *
     * @param texts contents of further entries by name
     */
    public static Path write(Path jar, List<String> services, Map<String, String> sources, Map<String, String> texts)
            throws IOException {
        Map<String, byte[]> entries = new LinkedHashMap<>();
        compile(sources).forEach((name, bytes) -> entries.put(name.replace('.', '/') + ".class", bytes));
        if (!services.isEmpty()) {
            String lines = String.join("\n", services) + "\n";
            entries.put(
                    "META-INF/services/" + Extension.class.getName(),
                    ("# extensions\n" + lines).getBytes(StandardCharsets.UTF_8));
        }
        texts.forEach((name, text) -> entries.put(name, text.getBytes(StandardCharsets.UTF_8)));
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                out.putNextEntry(new JarEntry(entry.getKey()));
                out.write(entry.getValue());
                out.closeEntry();
            }
        }
        return jar;
    }

    /** Writes a jar with one extension, which is its only class. */
    public static Path one(Path jar, String className, String source) throws IOException {
        return write(jar, List.of(className), Map.of(className, source));
    }

    private static Map<String, byte[]> compile(Map<String, String> sources) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Map<String, ByteArrayOutputStream> classes = new LinkedHashMap<>();
        List<JavaFileObject> units = new ArrayList<>();
        sources.forEach((name, text) -> units.add(new Source(name, text)));
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager standard = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
                JavaFileManager files = new InMemory(standard, classes)) {
            List<String> options = List.of("-cp", classesOfProxy(), "-proc:none", "-nowarn", "--release", "17");
            if (!units.isEmpty()
                    && !compiler.getTask(messages, files, null, options, null, units)
                            .call()) {
                throw new AssertionError(messages.toString());
            }
        }
        Map<String, byte[]> bytes = new LinkedHashMap<>();
        classes.forEach((name, stream) -> bytes.put(name, stream.toByteArray()));
        return bytes;
    }

    /** The directory or jar of the interface's classes; other runners than Maven's have it not in java.class.path. */
    private static String classesOfProxy() {
        try {
            return Path.of(Extension.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    private static final class InMemory extends ForwardingJavaFileManager<StandardJavaFileManager> {
        private final Map<String, ByteArrayOutputStream> classes;

        InMemory(StandardJavaFileManager standard, Map<String, ByteArrayOutputStream> classes) {
            super(standard);
            this.classes = classes;
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("string:///" + className + ".class"), kind) {
                @Override
                public OutputStream openOutputStream() {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    classes.put(className, bytes);
                    return bytes;
                }
            };
        }
    }
}
