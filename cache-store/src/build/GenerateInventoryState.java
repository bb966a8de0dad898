import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import net.openhft.chronicle.values.ValueModel;

/**
 * Run by the build: writes the one class that Chronicle Map would else generate and compile at its first use, so that
 * no product start runs javac. Argument: the directory for classes.
 */
final class GenerateInventoryState {
    private static final String INTERFACE = "net.openhft.chronicle.hash.VanillaGlobalMutableState";

    private GenerateInventoryState() {}

    public static void main(String[] arguments) throws Exception {
        Path classes = Path.of(arguments[0]);
        Class<?> state = Class.forName(INTERFACE);
        String simpleName = state.getSimpleName() + ValueModel.$$NATIVE;
        Method generate = Class.forName("net.openhft.chronicle.values.Generators")
                .getDeclaredMethod("generateNativeClass", ValueModel.class, String.class);
        generate.setAccessible(true);
        String source = (String) generate.invoke(null, ValueModel.acquire(state), simpleName);
        String name = (state.getPackageName() + '.' + simpleName).replace('.', '/') + ".class";
        Path compiled = Files.createTempDirectory("inventory-state");
        compile(simpleName, source, compiled);
        byte[] bytes = Files.readAllBytes(compiled.resolve(name));
        Path written = classes.resolve(name);
        // An unchanged file keeps its time, or every build would compile what depends on this module again.
        if (!Files.exists(written) || !Arrays.equals(bytes, Files.readAllBytes(written))) {
            Files.createDirectories(written.getParent());
            Files.write(written, bytes);
        }
        try (Stream<Path> left = Files.walk(compiled)) {
            for (Path path : left.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    private static void compile(String simpleName, String source, Path classes) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        JavaFileObject unit =
                new SimpleJavaFileObject(URI.create("string:///" + simpleName + ".java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        String classPath = System.getProperty("java.class.path");
        List<String> options =
                List.of("--release", "17", "-proc:none", "-nowarn", "-d", classes.toString(), "-cp", classPath);
        if (!compiler.getTask(null, null, null, options, null, List.of(unit)).call()) {
            throw new IOException(simpleName + ": the generated class does not compile");
        }
    }
}
