package io.millrace.proxy.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The files of one certificate. Immutable.
 *
 * @param certificate PEM file with the chain
 * @param key PEM file with the private key; equal to {@code certificate} if one file contains both
 */
public record CertificateFiles(Path certificate, Path key) {
    private static final String FULL_CHAIN = "fullchain.pem";
    private static final String PRIVATE_KEY = "privkey.pem";
    private static final String LEGO_ISSUER = ".issuer.crt";

    /**
     * Returns the certificates in a directory, sorted by path.
     *
     * <ul>
     *   <li>certbot and dehydrated: {@code fullchain.pem} and {@code privkey.pem}, in the directory or one level below;
     *   <li>lego: {@code NAME.crt} and {@code NAME.key};
     *   <li>{@code NAME.pem} and {@code NAME.key}, or both in {@code NAME.pem}.
     * </ul>
     *
     * @throws IOException if the directory cannot be read
     */
    static List<CertificateFiles> in(Path directory) throws IOException {
        if (has(directory)) {
            return List.of(of(directory));
        }
        List<CertificateFiles> found = new ArrayList<>();
        Set<String> names = new TreeSet<>();
        try (Stream<Path> entries = Files.list(directory)) {
            entries.forEach(entry -> names.add(String.valueOf(entry.getFileName())));
        }
        for (String name : names) {
            Path path = directory.resolve(name);
            if (name.startsWith(".")) {
                // Skips hidden files, such as temporary files of editors.
                continue;
            }
            boolean pem = name.endsWith(".pem");
            if (pem || (name.endsWith(".crt") && !name.endsWith(LEGO_ISSUER))) {
                String key = name.substring(0, name.length() - 4) + ".key";
                boolean isKeySeparate = names.contains(key);
                if (isKeySeparate || pem) {
                    found.add(new CertificateFiles(path, isKeySeparate ? directory.resolve(key) : path));
                }
            } else if (name.indexOf('.') != 0 && !isFileName(name) && has(path)) {
                found.add(of(path));
            }
        }
        return found;
    }

    /**
     * Returns true if the ending shows that an entry is a file. Such an entry is not searched as a directory. Saves
     * system calls in directories with thousands of files.
     */
    private static boolean isFileName(String name) {
        return name.endsWith(".key") || name.endsWith(".json") || name.endsWith(LEGO_ISSUER);
    }

    private static boolean has(Path directory) {
        return Files.exists(directory.resolve(FULL_CHAIN)) && Files.exists(directory.resolve(PRIVATE_KEY));
    }

    private static CertificateFiles of(Path directory) {
        return new CertificateFiles(directory.resolve(FULL_CHAIN), directory.resolve(PRIVATE_KEY));
    }
}
