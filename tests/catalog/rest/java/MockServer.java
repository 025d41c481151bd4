import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import org.apache.paimon.rest.RESTCatalogServer;
import org.apache.paimon.rest.auth.AuthProvider;
import org.apache.paimon.rest.auth.BearTokenAuthProvider;
import org.apache.paimon.rest.auth.DLFAuthProvider;
import org.apache.paimon.rest.responses.ConfigResponse;

/**
 * The mock of a REST catalog server in the tests of Java Paimon, over a folder. Arguments: folder,
 * warehouse, then "bear" and a token, or "dlf", access key, secret and region; then options that
 * the server configures, as key=value. Prints its address; ends with its standard input.
 */
public class MockServer {
    public static void main(String[] arguments) throws Exception {
        boolean isBearer = arguments[2].equals("bear");
        AuthProvider provider =
                isBearer
                        ? new BearTokenAuthProvider(arguments[3])
                        : keys(arguments[3], arguments[4], arguments[5]);
        Map<String, String> defaults = new HashMap<>();
        defaults.put("prefix", "my lake");
        defaults.put("warehouse", arguments[1]);
        for (int i = isBearer ? 4 : 6; i < arguments.length; i++) {
            String[] option = arguments[i].split("=", 2);
            defaults.put(option[0], option[1]);
        }
        ConfigResponse config = new ConfigResponse(defaults, new HashMap<>());
        RESTCatalogServer server =
                new RESTCatalogServer(arguments[0], provider, config, arguments[1]);
        server.start();
        System.out.println(server.getUrl());
        System.out.flush();
        while (System.in.read() >= 0) {}
        server.shutdown();
    }

    /** Since 1.4 a provider knows the server's address and the algorithm. */
    private static AuthProvider keys(String key, String secret, String region) throws Exception {
        for (Method method : DLFAuthProvider.class.getMethods()) {
            if (method.getName().equals("fromAccessKey")) {
                Object made =
                        method.getParameterCount() == 4
                                ? method.invoke(null, key, secret, null, region)
                                : method.invoke(
                                        null, key, secret, null, "http://h", region, "default");
                return (AuthProvider) made;
            }
        }
        throw new IllegalStateException("there is no DLFAuthProvider.fromAccessKey");
    }
}
