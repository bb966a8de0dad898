package io.millrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the README fits on one screen, and that its code and that of the embedding guide compile. */
class ReadmeTest {
    private static final int LINES_MAX = 70;
    private static final Path README = Path.of("../README.md");
    private static final Path EMBEDDING = Path.of("../docs/guide/embedding.md");
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern TYPE = Pattern.compile("class (\\w+)");

    @TempDir
    Path classes;

    @Test
    void fitsOnOneScreen() throws IOException {
        int lines = Files.readAllLines(README).size();
        assertTrue(lines <= LINES_MAX, () -> "README.md lines actual=" + lines + ", limit=" + LINES_MAX);
    }

    @Test
    void embeddingExampleCompiles() throws IOException {
        assertEquals(List.of(""), errorsOfExamples(README));
    }

    @Test
    void examplesOfTheEmbeddingGuideCompile() throws IOException {
        List<String> errors = errorsOfExamples(EMBEDDING);
        assertTrue(errors.size() > 1, () -> EMBEDDING + " examples actual=" + errors.size());
        assertEquals("", String.join("", errors));
    }

    @Test
    void mistakesInAnExampleAreFound() {
        assertTrue(errorsOf("ProxyServer.builder().listens(1);").contains("listens"));
    }

    private List<String> errorsOfExamples(Path page) throws IOException {
        return JAVA.matcher(Files.readString(page))
                .results()
                .map(example -> errorsOf(example.group(1)))
                .toList();
    }

    /** The example is a source file with a class, a method, or statements. */
    private static String sourceOf(String example) {
        if (example.contains("public class ")) {
            return example;
        }
        String imports = "import io.micrometer.core.instrument.*;\nimport io.millrace.proxy.*;\n"
                + "import io.millrace.proxy.cache.*;\n"
                + "import io.millrace.proxy.config.*;\nimport io.millrace.proxy.config.yaml.*;\n"
                + "import io.millrace.proxy.observe.trace.*;\nimport io.millrace.proxy.spi.*;\n"
                + "import java.io.*;\nimport java.util.*;\nimport java.util.concurrent.*;\n";
        String member = example.startsWith("static ")
                ? example
                : "    static void run() throws Exception {\n" + example + "    }\n";
        return imports + "class Example {\n" + member + "}\n";
    }

    private String errorsOf(String example) {
        String source = sourceOf(example);
        Matcher type = TYPE.matcher(source);
        assertTrue(type.find(), source);
        JavaFileObject file =
                new SimpleJavaFileObject(
                        URI.create("string:///" + type.group(1) + ".java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter errors = new StringWriter();
        List<String> options = List.of(
                "-d", classes.toString(), "-proc:none", "-nowarn", "-cp", System.getProperty("java.class.path"));
        boolean compiled = compiler.getTask(errors, null, null, options, null, List.of(file))
                .call();
        return compiled ? "" : errors.toString();
    }
}
