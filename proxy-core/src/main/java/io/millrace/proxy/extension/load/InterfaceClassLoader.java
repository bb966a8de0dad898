package io.millrace.proxy.extension.load;

/**
 * The parent of the class loaders of extensions. It provides the classes of the JDK and of
 * {@code io.millrace.proxy.spi}, but no other classes of the proxy and its libraries. Thread-safe.
 */
final class InterfaceClassLoader extends ClassLoader {
    private static final String INTERFACE_PACKAGE = "io.millrace.proxy.spi.";

    static {
        registerAsParallelCapable();
    }

    private final ClassLoader proxy;

    /** @param proxy the class loader of the proxy */
    InterfaceClassLoader(ClassLoader proxy) {
        super("millrace-spi", ClassLoader.getPlatformClassLoader());
        this.proxy = proxy;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        if (name.startsWith(INTERFACE_PACKAGE)) {
            return proxy.loadClass(name);
        }
        throw new ClassNotFoundException(name);
    }
}
