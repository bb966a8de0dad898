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

/** The README fits on one screen, and its code compiles. */
class ReadmeTest {
    private static final int LINES_MAX = 70;
    private static final Path README = Path.of("../README.md");
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    @TempDir
    Path classes;

    @Test
    void fitsOnOneScreen() throws IOException {
        int lines = Files.readAllLines(README).size();
        assertTrue(lines <= LINES_MAX, () -> "README.md lines actual=" + lines + ", limit=" + LINES_MAX);
    }

    @Test
    void embeddingExampleCompiles() throws IOException {
        Matcher example = JAVA.matcher(Files.readString(README));
        assertTrue(example.find(), "README.md has no Java example");
        assertEquals("", errorsOf(example.group(1)));
    }

    @Test
    void mistakesInAnExampleAreFound() {
        assertTrue(errorsOf("ProxyServer.builder().listens(1);").contains("listens"));
    }

    private String errorsOf(String statements) {
        String source = "import io.millrace.proxy.*;\nclass Example {\n    static void run() throws Exception {\n"
                + statements + "    }\n}\n";
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///Example.java"), JavaFileObject.Kind.SOURCE) {
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
