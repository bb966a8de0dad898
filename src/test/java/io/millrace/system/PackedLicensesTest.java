package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that THIRD-PARTY.md lists every library of the product, and no other. */
class PackedLicensesTest {
    @RegisterExtension
    static final PackedProduct PRODUCT = PackedProduct.asShipped();

    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\| (.+?) \\| .+ \\|$");
    private static final Pattern OWN =
            Pattern.compile("(millrace-launcher|millctl|cache-store-.*|proxy-core-.*)\\.jar");

    @Test
    void everyLibraryHasALicence() throws IOException {
        List<Pattern> listed = new ArrayList<>();
        Matcher rows = ROW.matcher(Files.readString(PRODUCT.home().resolve("THIRD-PARTY.md")));
        while (rows.find()) {
            String name = Pattern.quote(rows.group(1)).replace("*", "\\E.*\\Q");
            listed.add(Pattern.compile(name + "-\\d.*\\.jar"));
        }
        assertTrue(listed.size() > 10, listed::toString);
        List<String> jars = new ArrayList<>(librariesOfExtension());
        try (Stream<Path> lib = Files.list(PRODUCT.home().resolve("lib"))) {
            lib.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".jar") && !OWN.matcher(name).matches())
                    .forEach(jars::add);
        }
        assertEquals(
                List.of(),
                jars.stream()
                        .filter(jar -> listed.stream()
                                .noneMatch(row -> row.matcher(jar).matches()))
                        .toList());
        assertEquals(
                List.of(),
                listed.stream()
                        .filter(row ->
                                jars.stream().noneMatch(jar -> row.matcher(jar).matches()))
                        .toList());
        assertTrue(Files.isRegularFile(PRODUCT.home().resolve("NOTICE")));
    }

    /** Returns the names of the libraries inside the jars of lib/extensions. */
    private static List<String> librariesOfExtension() throws IOException {
        List<Path> jars;
        try (Stream<Path> files = Files.list(PRODUCT.home().resolve("lib/extensions"))) {
            jars = files.toList();
        }
        assertEquals(
                List.of("millrace-wasm.jar"),
                jars.stream().map(jar -> jar.getFileName().toString()).toList());
        try (JarFile jar = new JarFile(jars.get(0).toFile());
                InputStream in = jar.getInputStream(jar.getEntry("META-INF/millrace-libraries"))) {
            assertNotNull(jar.getManifest(), "a manifest");
            assertNotNull(jar.getManifest().getMainAttributes().getValue("Implementation-Version"));
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            List<String> libraries = Stream.of(text.strip().split(","))
                    .map(file -> file.substring(file.lastIndexOf('/') + 1))
                    .toList();
            assertTrue(libraries.size() > 5, libraries::toString);
            // Code of a library that the list omits would be shipped without its licence.
            List<String> other = jar.stream()
                    .map(JarEntry::getName)
                    .filter(name -> name.endsWith(".class")
                            && !name.matches("(?:io/millrace/wasm|run/endive|org/objectweb/asm|org/jspecify)/.*"))
                    .toList();
            assertEquals(List.of(), other);
            return libraries;
        }
    }
}
