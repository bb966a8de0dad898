import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
        Path written = classes.resolve((state.getPackageName() + '.' + simpleName).replace('.', '/') + ".class");
        compile(simpleName, source, classes, System.getProperty("java.class.path"));
        if (!Files.isRegularFile(written)) {
            throw new IOException(written + " was not written");
        }
    }

    private static void compile(String simpleName, String source, Path classes, String classPath) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        JavaFileObject unit =
                new SimpleJavaFileObject(URI.create("string:///" + simpleName + ".java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        List<String> options =
                List.of("--release", "17", "-proc:none", "-nowarn", "-d", classes.toString(), "-cp", classPath);
        if (!compiler.getTask(null, null, null, options, null, List.of(unit)).call()) {
            throw new IOException(simpleName + ": the generated class does not compile");
        }
    }
}
