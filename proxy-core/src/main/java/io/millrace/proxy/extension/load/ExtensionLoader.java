package io.millrace.proxy.extension.load;

import io.millrace.proxy.config.extension.ExtensionSettings;
import io.millrace.proxy.config.key.ExtensionJar;
import io.millrace.proxy.spi.Extension;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.jar.JarFile;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/** Loads the code of extensions. Thread-safe. Blocks while it reads files. */
public final class ExtensionLoader {
    private final ClassLoader proxy;
    private final ClassLoader application;
    private final ClassLoader parent;

    /** Creates a loader. Extensions without a jar are classes that the caller's thread can load. */
    public ExtensionLoader() {
        proxy = ExtensionLoader.class.getClassLoader();
        ClassLoader ofThread = Thread.currentThread().getContextClassLoader();
        application = ofThread == null ? proxy : ofThread;
        parent = new InterfaceClassLoader(proxy);
    }

    /**
     * Loads an extension and creates its object, without opening it.
     *
     * @param settings an element with {@code jar} or {@code class}
     * @throws IOException if there is no such extension, or it is incompatible with this proxy; the message begins with
     *     the file position of the element
     */
    public ExtensionCode load(ExtensionSettings settings) throws IOException {
        ExtensionJar jar = settings.jar();
        if (jar == null) {
            return new ExtensionCode(checked(ofApplication(settings), settings), null);
        }
        JarClassLoader classes = open(settings, jar);
        try {
            return new ExtensionCode(checked(ofJar(settings, jar, classes), settings), classes);
        } catch (IOException | RuntimeException | Error e) {
            classes.close();
            throw e;
        }
    }

    private JarClassLoader open(ExtensionSettings settings, ExtensionJar jar) throws IOException {
        Path copy = Files.createTempFile("millrace-extension-" + settings.name() + "-", ".jar");
        try {
            try (OutputStream out = Files.newOutputStream(copy)) {
                jar.copyTo(out);
            }
            JarFile file = new JarFile(copy.toFile(), false, ZipFile.OPEN_READ, JarFile.runtimeVersion());
            return new JarClassLoader(settings.name(), file, jar.path().toUri(), parent);
        } catch (IOException e) {
            throw failure(settings, String.valueOf(e.getMessage()), e);
        } finally {
            // From now on the open file has no name, so the system removes it when the process ends.
            Files.deleteIfExists(copy);
        }
    }

    private Extension ofApplication(ExtensionSettings settings) throws IOException {
        String className = settings.className();
        if (className == null) {
            throw failure(
                    settings, "has neither jar nor class, and the application has no extension of this name", null);
        }
        return create(settings, className, application);
    }

    private static Extension ofJar(ExtensionSettings settings, ExtensionJar jar, JarClassLoader classes)
            throws IOException {
        String className = settings.className();
        if (className != null) {
            return create(settings, className, classes);
        }
        try {
            List<ServiceLoader.Provider<Extension>> found = new ArrayList<>(
                    ServiceLoader.load(Extension.class, classes).stream().toList());
            if (found.size() != 1) {
                throw failure(
                        settings,
                        jar + " names " + found.size() + " extensions, expected one"
                                + (found.isEmpty() ? "" : "; choose one by class"),
                        null);
            }
            return found.get(0).get();
        } catch (ServiceConfigurationError | LinkageError e) {
            throw failure(settings, "cannot be loaded: " + reason(e), e);
        }
    }

    private static Extension create(ExtensionSettings settings, String className, ClassLoader classes)
            throws IOException {
        try {
            Class<?> found = Class.forName(className, true, classes);
            if (!Extension.class.isAssignableFrom(found)) {
                throw failure(settings, className + " does not implement " + Extension.class.getName(), null);
            }
            return found.asSubclass(Extension.class).getConstructor().newInstance();
        } catch (ClassNotFoundException e) {
            throw failure(settings, "has no class " + className, e);
        } catch (NoSuchMethodException | IllegalAccessException | InstantiationException e) {
            throw failure(settings, className + " has no public constructor without parameters", e);
        } catch (InvocationTargetException | LinkageError e) {
            throw failure(settings, "cannot be loaded: " + reason(e), e);
        }
    }

    /** Returns the extension if it was compiled for this version of the interface. */
    private static Extension checked(Extension extension, ExtensionSettings settings) throws IOException {
        int version;
        try {
            version = extension.apiVersion();
        } catch (RuntimeException | LinkageError e) {
            throw failure(settings, "cannot be loaded: " + reason(e), e);
        }
        if (version != Extension.API_VERSION) {
            throw failure(
                    settings,
                    "was compiled for version " + version + " of the interface io.millrace.proxy.spi, and this proxy"
                            + " has version " + Extension.API_VERSION + "; compile it again",
                    null);
        }
        return extension;
    }

    /** Returns a failure whose message begins with the file position of the element. */
    private static IOException failure(ExtensionSettings settings, String message, @Nullable Throwable cause) {
        String place = settings.place().isEmpty() ? "" : settings.place() + ": ";
        return new IOException(place + "extension " + settings.name() + ": " + message, cause);
    }

    /** The message of the deepest cause, with its type. */
    private static String reason(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        return cause.toString();
    }
}
