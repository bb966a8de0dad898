package io.millrace.proxy.config.extension;

import io.millrace.proxy.config.value.InvalidValueException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import org.jspecify.annotations.Nullable;

/**
 * The extensions that a jar names, read without running its code. Thread-safe: the methods are static and share no
 * state.
 */
public final class JarServices {
    /** The file of a jar that names its extensions, one class on a line ({@link java.util.ServiceLoader}). */
    public static final String FILE = "META-INF/services/io.millrace.proxy.spi.Extension";

    /** Limit of lines that are read from that file. */
    private static final int LINES_MAX = 1000;

    private JarServices() {}

    /**
     * Checks that a jar has the class of an extension.
     *
     * @param className the class that the configuration names; null for the only one of the jar
     * @throws InvalidValueException if it does not
     */
    public static void check(Path file, @Nullable String className) throws InvalidValueException {
        try (JarFile jar = new JarFile(file.toFile())) {
            List<String> services = services(jar);
            if (className == null && services.isEmpty()) {
                throw new InvalidValueException(file + " names no extension: it has no class in " + FILE);
            }
            if (className == null && services.size() > 1) {
                throw new InvalidValueException(file + " names " + services.size() + " extensions: "
                        + String.join(", ", services) + "; choose one by class");
            }
            String chosen = className == null ? services.get(0) : className;
            if (jar.getEntry(chosen.replace('.', '/') + ".class") == null) {
                throw new InvalidValueException(file + " has no class " + chosen);
            }
        } catch (IOException e) {
            throw new InvalidValueException(file + " is not a jar: " + e.getMessage());
        }
    }

    private static List<String> services(JarFile jar) throws IOException {
        ZipEntry entry = jar.getEntry(FILE);
        List<String> names = new ArrayList<>();
        if (entry == null) {
            return names;
        }
        try (InputStream in = jar.getInputStream(entry);
                BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            int count = 0;
            for (String line = lines.readLine(); line != null && count < LINES_MAX; line = lines.readLine()) {
                int comment = line.indexOf('#');
                String name = (comment < 0 ? line : line.substring(0, comment)).strip();
                if (!name.isEmpty() && !names.contains(name)) {
                    names.add(name);
                }
                count++;
            }
        }
        return names;
    }
}
