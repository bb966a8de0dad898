package io.millrace.proxy.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Compares the public signatures of the interface for extensions with a list in the repository. After a change on
 * purpose, run this test with {@code -Dmillrace.golden.write=true}. A removed or changed line breaks extensions, and
 * needs a higher {@link Extension#API_VERSION}.
 */
class SignatureTest {
    private static final Path LIST = Path.of("src/test/resources/io/millrace/proxy/spi/signatures.txt");

    @Test
    void theSignaturesAreThoseOfTheList() throws Exception {
        String found = String.join("\n", signatures()) + "\n";
        if (Boolean.getBoolean("millrace.golden.write")) {
            Files.writeString(LIST, found);
        }
        assertTrue(found.contains("interface io.millrace.proxy.spi.DeliverHook"), found);
        assertEquals(Files.readString(LIST), found);
    }

    /** An extension depends on nothing but this package and the JDK. */
    @Test
    void theSignaturesHaveOnlyTypesOfThePackageAndTheJdk() throws Exception {
        for (String line : signatures()) {
            for (String word : line.split("[^A-Za-z0-9_.$]+", -1)) {
                boolean isType = word.indexOf('.') > 0 && Character.isLetter(word.charAt(0));
                assertTrue(
                        !isType || word.startsWith("io.millrace.proxy.spi.") || word.startsWith("java."),
                        word + " in " + line);
            }
        }
    }

    private static List<String> signatures() throws IOException, ClassNotFoundException, URISyntaxException {
        Path classes = Path.of(Extension.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .resolve("io/millrace/proxy/spi");
        List<String> names = new ArrayList<>();
        try (Stream<Path> files = Files.walk(classes)) {
            files.map(file -> classes.relativize(file).toString())
                    .filter(file -> file.endsWith(".class") && !file.contains("package-info"))
                    .sorted()
                    .forEach(file -> names.add(file.substring(0, file.length() - ".class".length())));
        }
        List<String> lines = new ArrayList<>();
        for (String name : names) {
            Class<?> type = Class.forName("io.millrace.proxy.spi." + name.replace('/', '.'));
            if (isVisible(type.getModifiers())) {
                lines.add(type.toGenericString() + parents(type));
                members(type).forEach(member -> lines.add("    " + member));
            }
        }
        return lines;
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    private static String parents(Class<?> type) {
        List<String> parents = new ArrayList<>();
        if (type.getGenericSuperclass() != null && type.getGenericSuperclass() != Object.class) {
            parents.add(type.getGenericSuperclass().getTypeName());
        }
        Arrays.stream(type.getGenericInterfaces()).forEach(parent -> parents.add(parent.getTypeName()));
        return parents.isEmpty() ? "" : " : " + String.join(", ", parents);
    }

    private static Set<String> members(Class<?> type) {
        Set<String> members = new TreeSet<>();
        for (Field field : type.getDeclaredFields()) {
            if (isVisible(field.getModifiers()) && !field.isSynthetic()) {
                members.add(field.toGenericString());
            }
        }
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            if (isVisible(constructor.getModifiers())) {
                members.add(constructor.toGenericString());
            }
        }
        for (Method method : type.getDeclaredMethods()) {
            if (isVisible(method.getModifiers()) && !method.isSynthetic()) {
                members.add(method.toGenericString());
            }
        }
        return members;
    }
}
