package io.millrace.cli.command.server;

import io.millrace.cli.command.Surroundings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Opens a URL in the browser of the desktop. The program that opens it gets the name of a private file that redirects
 * to the URL: other users can read its arguments, and the URL contains a code. The file is deleted by {@link #close},
 * or with the process. Confined to one thread.
 */
final class BrowserPage implements AutoCloseable {
    private final Surroundings surroundings;
    private @Nullable Path file;

    BrowserPage(Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    /** Opens the URL if there is a desktop. Returns whether there is one. */
    boolean open(String url) {
        List<String> opener = opener();
        if (opener.isEmpty()) {
            return false;
        }
        try {
            Path page = Files.createTempFile("millrace-", ".html"); // readable by its owner only
            file = page;
            // An interrupt ends the process without close.
            page.toFile().deleteOnExit();
            Files.writeString(
                    page,
                    "<!doctype html><meta charset=\"utf-8\"><title>Millrace</title><meta http-equiv=\"refresh\""
                            + " content=\"0;url="
                            + escaped(url) + "\">\n");
            new ProcessBuilder(opener.get(0), page.toString())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return true;
        } catch (IOException e) {
            return false; // the printed URL is enough
        }
    }

    /** The program that opens files, empty without a desktop. */
    private List<String> opener() {
        if (surroundings.variable("WAYLAND_DISPLAY") == null && surroundings.variable("DISPLAY") == null) {
            return List.of();
        }
        String browser = surroundings.variable("BROWSER");
        return List.of(browser == null || browser.contains(":") ? "xdg-open" : browser);
    }

    private static String escaped(String url) {
        return url.replace("&", "&amp;").replace("\"", "&quot;").replace("<", "&lt;");
    }

    @Override
    public void close() {
        delete();
    }

    /** Deletes the file. Does nothing the second time. */
    void delete() {
        if (file != null) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                // A file in the temporary directory may stay; its code is used or over.
            }
            file = null;
        }
    }
}
