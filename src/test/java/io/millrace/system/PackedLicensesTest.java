package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
        List<String> jars;
        try (Stream<Path> lib = Files.list(PRODUCT.home().resolve("lib"))) {
            jars = lib.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".jar") && !OWN.matcher(name).matches())
                    .toList();
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
}
