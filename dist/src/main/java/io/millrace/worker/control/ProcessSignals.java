package io.millrace.worker.control;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * Installs handlers of operating system signals. The JDK's class for this is public but unsupported, and direct
 * references to it cause compiler warnings. It is therefore accessed by reflection; on a JVM without the class no
 * handlers are installed.
 */
public final class ProcessSignals {
    private ProcessSignals() {}

    /**
     * Runs {@code action} on a JVM thread whenever the process receives {@code signal} ({@code TERM}, {@code HUP},
     * ...).
     *
     * @return false if the JVM does not permit a handler for the signal (started with {@code -Xrs}, or unknown signal)
     */
    public static boolean handle(String signal, Runnable action) {
        try {
            Class<?> signalType = Class.forName("sun.misc.Signal");
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            Object named = signalType.getConstructor(String.class).newInstance(signal);
            Object handler = Proxy.newProxyInstance(
                    ProcessSignals.class.getClassLoader(), new Class<?>[] {handlerType}, new Handler(signal, action));
            signalType.getMethod("handle", signalType, handlerType).invoke(null, named, handler);
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }

    private record Handler(String signal, Runnable action) implements InvocationHandler {
        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) {
            return switch (method.getName()) {
                case "handle" -> {
                    action.run();
                    yield null;
                }
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == arguments[0];
                default -> "handler of " + signal;
            };
        }
    }
}
