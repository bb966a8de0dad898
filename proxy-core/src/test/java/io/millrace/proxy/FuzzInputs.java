package io.millrace.proxy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The stored inputs of a fuzz test: seeds, and inputs that have failed. */
public final class FuzzInputs {
    private FuzzInputs() {}

    /** By file name. */
    public static Map<String, byte[]> of(Class<?> test, String method) throws IOException {
        Path directory = Path.of("src", "test", "resources")
                .resolve(test.getPackageName().replace('.', '/'))
                .resolve(test.getSimpleName() + "Inputs")
                .resolve(method);
        Map<String, byte[]> inputs = new TreeMap<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                inputs.put(String.valueOf(file.getFileName()), Files.readAllBytes(file));
            }
        }
        return inputs;
    }
}
