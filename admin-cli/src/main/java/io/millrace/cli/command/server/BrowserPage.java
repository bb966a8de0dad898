package io.millrace.cli.command.server;

import io.millrace.cli.command.ProcessEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Opens a URL in the browser, and hides the login code in the URL from other users. Other users can read the arguments
 * of a process. So the browser's argument is a private file, which redirects to the URL. {@link #close} or the end of
 * the process deletes the file. Confined to one thread.
 */
final class BrowserPage implements AutoCloseable {
    private final ProcessEnvironment environment;
    private @Nullable Path file;

    BrowserPage(ProcessEnvironment environment) {
        this.environment = environment;
    }

    /** Starts the browser. Returns false if there is no desktop or the browser cannot be started. */
    boolean open(String url) {
        List<String> browserCommand = browserCommand();
        if (browserCommand.isEmpty()) {
            return false;
        }
        try {
            Path page = Files.createTempFile("millrace-", ".html"); // readable by its owner only
            file = page;
            // Ctrl-C ends the process without a call of close().
            page.toFile().deleteOnExit();
            Files.writeString(
                    page,
                    "<!doctype html><meta charset=\"utf-8\"><title>Millrace</title><meta http-equiv=\"refresh\""
                            + " content=\"0;url="
                            + escaped(url) + "\">\n");
            new ProcessBuilder(browserCommand.get(0), page.toString())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return true;
        } catch (IOException e) {
            return false; // the user can open the printed URL
        }
    }

    /** Returns the command that opens a file in the browser; empty if there is no desktop. */
    private List<String> browserCommand() {
        if (environment.variable("WAYLAND_DISPLAY") == null && environment.variable("DISPLAY") == null) {
            return List.of();
        }
        String browser = environment.variable("BROWSER");
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
                // The file may stay in the temporary directory, since its login code is used or expired by now.
            }
            file = null;
        }
    }
}
