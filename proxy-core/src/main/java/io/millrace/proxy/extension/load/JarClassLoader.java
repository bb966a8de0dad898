package io.millrace.proxy.extension.load;

import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.security.cert.Certificate;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * The class loader of one extension. It reads a private copy of the jar that has no name in the file system, so that a
 * change of the configured file has no effect on the running proxy. Thread-safe.
 */
final class JarClassLoader extends ClassLoader implements Closeable {
    static {
        registerAsParallelCapable();
    }

    private final JarFile jar;
    private final ProtectionDomain domain;

    /**
     * @param name name of the extension, for stack traces
     * @param jar the copy, which this object owns and closes
     * @param configured the configured file, for display
     */
    JarClassLoader(String name, JarFile jar, URI configured, ClassLoader parent) throws IOException {
        super("extension-" + name, parent);
        this.jar = jar;
        domain = new ProtectionDomain(new CodeSource(configured.toURL(), (Certificate[]) null), null, this, null);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        try {
            byte[] bytes = read(name.replace('.', '/') + ".class");
            if (bytes == null) {
                throw new ClassNotFoundException(name);
            }
            return defineClass(name, bytes, 0, bytes.length, domain);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    @Override
    protected @Nullable URL findResource(String name) {
        JarEntry entry = jar.getJarEntry(name);
        try {
            return entry == null ? null : new URL(null, "extension:/" + entry.getName(), new EntryHandler());
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    protected Enumeration<URL> findResources(String name) {
        URL resource = findResource(name);
        return Collections.enumeration(resource == null ? List.of() : List.of(resource));
    }

    private byte @Nullable [] read(String entryName) throws IOException {
        JarEntry entry = jar.getJarEntry(entryName);
        if (entry == null) {
            return null;
        }
        try (InputStream in = jar.getInputStream(entry)) {
            return in.readAllBytes();
        }
    }

    /** Closes the copy. Classes that were not loaded before cannot be loaded after it. */
    @Override
    public void close() throws IOException {
        jar.close();
    }

    /** Opens resources of the jar by URL, as ServiceLoader needs it. */
    private final class EntryHandler extends URLStreamHandler {
        @Override
        protected URLConnection openConnection(URL url) {
            return new URLConnection(url) {
                @Override
                public void connect() {}

                @Override
                public InputStream getInputStream() throws IOException {
                    byte[] bytes = read(url.getPath().substring(1));
                    if (bytes == null) {
                        throw new IOException("no such resource: " + url);
                    }
                    return new ByteArrayInputStream(bytes);
                }
            };
        }
    }
}
