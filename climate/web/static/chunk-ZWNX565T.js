var n=/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:(?=.)/,t=a=>a.replace(n,"");export{t as a};
